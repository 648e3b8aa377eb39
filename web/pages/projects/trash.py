"""A project's trash, and moving runs into it and out of it."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from tracker.access.projects import may_edit, may_own, owned_project, readable_project
from tracker.access.runs import doomed_run, editable_run, trashed_run
from tracker.actions.deletions import empty_made
from tracker.actions.runs.trash import (
    delete_for_good,
    empty_trash,
    move_to_trash,
    pin,
    restore,
    unpin,
)
from tracker.queries.projects.deletions import deleted_page
from tracker.queries.projects.trash import TRASH_DAYS, trash_page
from web.numbers import whole_number
from web.pages.projects.deletions import WORDS
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.toasts import quoted, tell

SHOWN = 100


@require_safe
@signed_in
def trash(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = readable_project(request.actor, workspace, project)
    offset = whole_number(request.GET.get("offset", "0"), "offset")
    made_offset = whole_number(request.GET.get("made", "0"), "made")
    page = trash_page(found, offset=offset, limit=SHOWN)
    made = deleted_page(found, request.actor, offset=made_offset, limit=SHOWN)
    edits, owns = may_edit(request.actor, found), may_own(request.actor, found)
    context = {
        "project": found,
        "tab": "trash",
        "may_edit": edits,
        "may_own": owns,
        "page": page,
        "made": made,
        "made_things": [(item, WORDS[item.kind]) for item in made.things],
        "trash_days": TRASH_DAYS,
        "pages_of_runs": _pages(request, "offset", offset, len(page.runs), page.total),
        "pages_of_made": _pages(
            request, "made", made_offset, len(made.things), made.total
        ),
    }
    return render(request, "trash/trash.html", context)


def _pages(
    request: PageRequest, name: str, offset: int, shown: int, total: int
) -> dict[str, str]:
    """Return the addresses of the previous and next page; the other list stays."""
    query = request.GET.copy()
    pages = {}
    if offset:
        query[name] = str(max(0, offset - SHOWN))
        pages["newer"] = f"?{query.urlencode()}"
    if offset + shown < total:
        query[name] = str(offset + shown)
        pages["older"] = f"?{query.urlencode()}"
    return pages


@require_POST
@signed_in
def empty(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Delete all that lies in the trash for good."""
    found = owned_project(request.actor, workspace, project)
    empty_trash(found, audit_context(request))
    empty_made(found, request.actor)
    tell(request, gettext("Emptying the trash."))
    return HttpResponseRedirect(reverse("trash", args=[workspace, project]))


@require_POST
@signed_in
def move(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Move a run to the trash, and offer to undo that where its runs are shown."""
    run = editable_run(request.actor, run_id)
    move_to_trash(run)
    undo = reverse("run-restore", args=[run.id])
    tell(
        request,
        gettext("%(run)s moved to the trash.") % {"run": quoted(run.name)},
        undo=undo,
    )
    project = run.project
    return HttpResponseRedirect(
        reverse("runs", args=[project.workspace.slug, project.slug])
    )


@require_POST
@signed_in
def put_back(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = trashed_run(request.actor, run_id)
    restore(run)
    tell(request, gettext("%(run)s restored.") % {"run": quoted(run.name)})
    return HttpResponseRedirect(reverse("run", args=[run.id]))


@require_POST
@signed_in
def delete(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = doomed_run(request.actor, run_id)
    project = run.project
    delete_for_good(run, audit_context(request))
    tell(
        request,
        gettext("Permanently deleting %(run)s.") % {"run": quoted(run.name)},
    )
    return HttpResponseRedirect(
        reverse("trash", args=[project.workspace.slug, project.slug])
    )


@require_POST
@signed_in
def pin_run(request: PageRequest, run_id: UUID) -> HttpResponse:
    pin(editable_run(request.actor, run_id))
    undo = reverse("run-unpin", args=[run_id])
    tell(
        request,
        gettext("Run pinned. The project's retention does not apply to it."),
        undo=undo,
    )
    return HttpResponseRedirect(reverse("run", args=[run_id]))


@require_POST
@signed_in
def unpin_run(request: PageRequest, run_id: UUID) -> HttpResponse:
    unpin(editable_run(request.actor, run_id))
    undo = reverse("run-pin", args=[run_id])
    tell(
        request,
        gettext("Run unpinned. The project's retention applies to it again."),
        undo=undo,
    )
    return HttpResponseRedirect(reverse("run", args=[run_id]))
