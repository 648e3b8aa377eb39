"""A project's share links: making one, seeing which there are, revoking them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from tracker.access.objects import readable_dashboard, readable_report
from tracker.access.projects import editable_project
from tracker.actions.shares import make_link, revoke_link
from tracker.boards.frozen import Frozen
from tracker.errors import InvalidInput, NotFound
from tracker.queries.reports.shares import (
    MAX_LISTED,
    ListedLink,
    project_links,
    things_in_trash,
)
from tracker.server.client_address import client_address
from tracker.shares import KINDS
from tracker.shares.kind import Chosen, Kind, Shared, as_id
from web.pages.dashboards.frozen_pages import frozen_dashboard, frozen_report
from web.pages.sharing.share_form import (
    EXPIRIES,
    ON_A_DATE,
    PARTS,
    ShareForm,
    read_form,
)
from web.session import PageRequest, signed_in
from web.toasts import tell


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link with its target; without an address where that is hidden or deleted.

    Items in the trash still have their titles.
    """

    link: ListedLink
    title: str
    address: str
    parts: tuple[str, ...]

    @property
    def is_live(self) -> bool:
        return self.link.is_live and bool(self.address)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def shares(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """List all links of a project; on POST, make one."""
    found = editable_project(request.actor, workspace, project, to="share")
    if request.method != "POST":
        context = {"links": _shown(found, project_links(found)), "most": MAX_LISTED}
        return render(request, "shares/shares.html", {**_around(found), **context})

    form = read_form(request.POST)
    try:
        frozen = _frozen(request, form) if form.is_frozen else None
        secret = make_link(
            found,
            request.actor,
            form.request(timezone.now(), frozen),
            address=client_address(request),
        )
    except InvalidInput as error:
        return _dialog(request, found, form, error=str(error), status=400)
    # Shown in the answer itself and nowhere else: it must not lie in a session.
    return _dialog(request, found, form, secret=secret, status=201)


@require_safe
@signed_in
def share(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Show the form to share an item, and its existing links."""
    found = editable_project(request.actor, workspace, project, to="share")
    form = ShareForm(kind=request.GET.get("kind", ""), of=request.GET.get("of", ""))
    return _dialog(request, found, form)


@require_POST
@signed_in
def revoke(
    request: PageRequest, workspace: str, project: str, share_id: int
) -> HttpResponse:
    found = editable_project(request.actor, workspace, project, to="share")
    link = revoke_link(found, request.actor, share_id, address=client_address(request))
    kind = KINDS.get(link.kind)
    if request.htmx and kind is not None:
        form = ShareForm(kind=link.kind, of=link.query or link.thing)
        return _dialog(request, found, form)
    tell(request, gettext("Link revoked."))
    return HttpResponseRedirect(reverse("shares", args=[workspace, project]))


# Any: a row of the projects table, which pages do not import.
def _dialog(
    request: PageRequest,
    project: Any,
    form: ShareForm,
    *,
    secret: str = "",
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    kind, chosen, shared = _chosen(project, form)
    links = project_links(project, kind=kind.name, target_id=chosen.thing)
    context = {
        **_around(project),
        "form": form,
        "kind": kind,
        "title": shared.title,
        "links": _shown(project, links),
        "expiries": EXPIRIES.items(),
        "on_a_date": ON_A_DATE,
        "parts": [
            (part.value, *texts, part in form.parts) for part, texts in PARTS.items()
        ],
        "today": timezone.now().date().isoformat(),
        "frozen": _frozen(request, form) if kind.can_freeze and not secret else None,
        "made": settings.PUBLIC_URL + reverse("shared", args=[secret])
        if secret
        else "",
        "error": error,
    }
    template = "shares/_dialog.html" if request.htmx else "shares/share.html"
    return render(request, template, context, status=status)


def _frozen(request: PageRequest, form: ShareForm) -> Frozen | None:
    """Return the snapshot that a frozen link shows."""
    if form.kind == "dashboard":
        dashboard_id = as_id(form.of, form.kind)
        return frozen_dashboard(
            request.actor, readable_dashboard(request.actor, dashboard_id)
        )
    if form.kind == "report":
        report_id = as_id(form.of, form.kind)
        return frozen_report(request.actor, readable_report(request.actor, report_id))
    return None


def _chosen(project: Any, form: ShareForm) -> tuple[Kind, Chosen, Shared]:
    kind = KINDS.get(form.kind)
    if kind is None:
        raise NotFound("kind of thing that can be shared")
    chosen = kind.choose(project, form.of)
    shared = kind.read(project, [chosen]).get(chosen.thing)
    if shared is None:
        raise NotFound(kind.noun)
    return kind, chosen, shared


def _shown(project: Any, links: list[ListedLink]) -> list[ShownLink]:
    """Look up the links' objects, one query per kind; list live links first."""
    found: dict[tuple[str, str], Shared] = {}
    for kind in KINDS.values():
        chosen = {
            Chosen(link.thing, link.query) for link in links if link.kind == kind.name
        }
        if chosen:
            read = kind.read(project, chosen)
            found |= {
                (kind.name, target_id): shared for target_id, shared in read.items()
            }
    hidden = things_in_trash(project, {(link.kind, link.thing) for link in links})
    shown = [
        _link(
            project,
            link,
            found.get((link.kind, link.thing)),
            hidden.get((link.kind, link.thing), ""),
        )
        for link in links
    ]
    return sorted(shown, key=lambda each: not each.is_live)


def _link(
    project: Any, link: ListedLink, shared: Shared | None, hidden_title: str
) -> ShownLink:
    parts = tuple(PARTS[part][0] for part in link.parts)
    if shared is None:
        return ShownLink(link, hidden_title, "", parts)
    address = KINDS[link.kind].address(project, shared, link.query)
    return ShownLink(link, shared.title, address, parts)


def _around(project: Any) -> dict[str, Any]:
    return {"project": project, "tab": "settings", "kinds": KINDS}
