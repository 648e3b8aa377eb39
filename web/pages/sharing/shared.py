"""Pages for visitors by share link: the members' views under the link's address.

The views run with an actor who may read only the linked item. Django's script prefix is
set to the link's address, so that all links on the page stay below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import get_script_prefix, resolve, reverse, set_script_prefix
from django.utils.http import escape_leading_slashes
from django.views.decorators.http import require_safe

from tracker.access.projects import readable_by_member
from tracker.actions.shares import OpenedLink, note_opening, open_link
from tracker.errors import NotFound, TrackerError
from web.errors import ErrorText, page_not_found, refusal
from web.pages.sharing.shared_pages import SharedPage
from web.pages.sharing.shared_routes import opens
from web.session import wants_json
from web.texts import gettext_lazy

HEADERS = {
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    # The address is secret, so send no referrer.
    "Referrer-Policy": "no-referrer",
}
GONE = {
    "error_text": ErrorText(
        gettext_lazy("This share link does not work"),
        gettext_lazy("The link is incomplete, has expired or was revoked."),
        gettext_lazy("Ask the sender for a new link."),
    ),
    "is_for_strangers": True,
}


@require_safe
def shared(request: HttpRequest, secret: str) -> HttpResponseBase:
    """Redirect to the shared page."""
    opened = open_link(secret)
    if opened is None:
        return _private(_gone(request))
    with _addresses_below(_base(secret)):
        return _private(HttpResponseRedirect(opened.address()))


@require_safe
def shared_page(request: HttpRequest, secret: str, rest: str) -> HttpResponseBase:
    """Run the view of the rest of the address, if it is shared."""
    opened = open_link(secret)
    if opened is None:
        return _private(_gone(request))
    base = _base(secret)
    request.link_actor = opened.actor  # type: ignore[attr-defined]
    request.shared_page = SharedPage(  # type: ignore[attr-defined]
        project=opened.project_name,
        expires_at=opened.expires_at,
        frozen_at=opened.frozen_at,
        member_address=_member_address(request, opened, base),
    )
    with _addresses_below(base):
        response = _response(request, opened, f"/{rest}")
    if _is_page(request, response):
        note_opening(opened)
    return _private(response)


def _response(request: HttpRequest, opened: OpenedLink, path: str) -> HttpResponseBase:
    try:
        page = resolve(path)
        if not opens(page.view_name, opened.parts):
            raise NotFound("page here")
        answer: HttpResponseBase = page.func(request, *page.args, **page.kwargs)
    except Http404:
        return page_not_found(request)
    except TrackerError as error:
        return refusal(request, error)
    return answer


def _gone(request: HttpRequest) -> HttpResponse:
    """Return the same response for every invalid link."""
    if wants_json(request):
        return page_not_found(request)
    return render(request, "errors/plain.html", GONE, status=HTTPStatus.NOT_FOUND)


def _private(response: HttpResponseBase) -> HttpResponseBase:
    for name, value in HEADERS.items():
        response[name] = value
    # Figures are cached but revalidated each time, so that a revoked link ends at once.
    response.setdefault("Cache-Control", "private, no-store")
    return response


def _base(secret: str) -> str:
    return reverse("shared", args=[secret])


@contextmanager
def _addresses_below(base: str) -> Iterator[None]:
    before = get_script_prefix()
    set_script_prefix(base)
    try:
        yield
    finally:
        set_script_prefix(before)


def _member_address(request: HttpRequest, opened: OpenedLink, base: str) -> str:
    """Return where members see the same with everything around it; "" for others."""
    if not request.user.is_authenticated:
        return ""
    if not readable_by_member(request.user.pk, opened.project_id):
        return ""
    within = request.get_full_path().removeprefix(base.rstrip("/"))
    # Two slashes at the beginning would lead to another host.
    return escape_leading_slashes(within)


def _is_page(request: HttpRequest, response: HttpResponseBase) -> bool:
    return (
        request.method == "GET"
        and response.status_code == HTTPStatus.OK
        and response.get("Content-Type", "").startswith("text/html")
        and "HX-Request" not in request.headers
    )
