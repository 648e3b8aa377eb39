"""A project's trash: what lies there, and moving runs into it and out of it."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from tracker.access import (
    doomed_run,
    editable_run,
    may_edit,
    may_own,
    owned_project,
    readable_project,
    trashed_run,
)
from tracker.actions.trash import (
    delete_for_good,
    empty_trash,
    move_to_trash,
    pin,
    restore,
    unpin,
)
from tracker.queries.trash import TRASH_DAYS, trash_page
from web.numbers import whole_number
from web.session import PageRequest, signed_in
from web.toasts import quoted, tell

SHOWN = 100


@require_safe
@signed_in
def trash(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = readable_project(request.actor, workspace, project)
    offset = whole_number(request.GET.get("offset", "0"), "offset")
    page = trash_page(found, offset=offset, limit=SHOWN)
    shown_until = offset + len(page.runs)
    context = {
        "project": found,
        "tab": "trash",
        "may_edit": may_edit(request.actor, found),
        "may_own": may_own(request.actor, found),
        "page": page,
        "trash_days": TRASH_DAYS,
        "newer": max(0, offset - SHOWN) if offset else None,
        "older": shown_until if shown_until < page.total else None,
    }
    return render(request, "trash/trash.html", context)


@require_POST
@signed_in
def empty(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Delete all that lies in the trash for good."""
    found = owned_project(request.actor, workspace, project)
    empty_trash(found)
    tell(request, gettext("The trash is being emptied."))
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
        gettext("%(run)s is in the trash.") % {"run": quoted(run.name)},
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
    tell(
        request, gettext("%(run)s is back from the trash.") % {"run": quoted(run.name)}
    )
    return HttpResponseRedirect(reverse("run", args=[run.id]))


@require_POST
@signed_in
def delete(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = doomed_run(request.actor, run_id)
    project = run.project
    delete_for_good(run)
    tell(
        request,
        gettext("%(run)s is being deleted for good.") % {"run": quoted(run.name)},
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
        gettext("Pinned: it is kept, however long the project keeps runs."),
        undo=undo,
    )
    return HttpResponseRedirect(reverse("run", args=[run_id]))


@require_POST
@signed_in
def unpin_run(request: PageRequest, run_id: UUID) -> HttpResponse:
    unpin(editable_run(request.actor, run_id))
    undo = reverse("run-pin", args=[run_id])
    tell(request, gettext("Unpinned: retention may take it again."), undo=undo)
    return HttpResponseRedirect(reverse("run", args=[run_id]))
