"""The trash of a project, and pinned runs, which stay out of it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.http import HttpResponse
from ninja import Router, Schema

from tracker.access.objects import (
    doomed_run,
    editable_run,
    readable_project,
    trashed_run,
)
from tracker.actions.trash import (
    delete_for_good,
    move_to_trash,
    pin,
    restore,
    unpin,
)
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.params import Limit, Offset
from tracker.api.v1.people.members import doer_of
from tracker.api.v1.runs import router as runs_router
from tracker.queries.projects.trash import TrashedRun, trash_page

router = Router(tags=["trash"], auth=ReaderAuth())


class TrashedRunOut(Schema):
    id: UUID
    name: str
    state: str
    last_seen_at: datetime
    trashed_at: datetime
    deleted_after: datetime


class TrashOut(Schema):
    """`being_deleted` counts runs that are gone, but for some of their bytes."""

    total: int
    being_deleted: int
    runs: list[TrashedRunOut]


class RunPlaceOut(Schema):
    """Where a run is now: in the trash or not, pinned or not, or being deleted."""

    id: UUID
    is_in_trash: bool
    is_pinned: bool
    is_deleted: bool


@router.get("/projects/{slug:workspace}/{slug:project}/trash", response=TrashOut)
def read_trash(
    request: ApiRequest,
    *,
    workspace: str,
    project: str,
    offset: Offset = 0,
    limit: Limit = 100,
) -> HttpResponse:
    """A page of the project's trash, the run trashed last first."""
    found = readable_project(request.auth, workspace, project)
    page = trash_page(found, offset=offset, limit=limit)
    return json_response(
        {
            "total": page.total,
            "being_deleted": page.being_deleted,
            "runs": [_trashed(run) for run in page.runs],
        }
    )


@router.post("/runs/{uuid:run_id}/trash", response=RunPlaceOut, auth=WriterAuth())
def trash_run(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """Move a run to the trash, from where it can be restored for 30 days."""
    run = editable_run(request.auth, run_id)
    move_to_trash(run)
    return _place(run_id, is_in_trash=True)


@router.post("/runs/{uuid:run_id}/restore", response=RunPlaceOut, auth=WriterAuth())
def restore_run(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """Bring a run back, pinned where retention would take it again at once."""
    run = trashed_run(request.auth, run_id)
    restore(run)
    return _place(run_id, is_pinned=run.pinned_at is not None)


@router.post("/runs/{uuid:run_id}/pin", response=RunPlaceOut, auth=WriterAuth())
def pin_run(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """Keep a run from retention and from the trash."""
    pin(editable_run(request.auth, run_id))
    return _place(run_id, is_pinned=True)


@router.post("/runs/{uuid:run_id}/unpin", response=RunPlaceOut, auth=WriterAuth())
def unpin_run(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """Let a run go the way of all others."""
    unpin(editable_run(request.auth, run_id))
    return _place(run_id)


# At an address of runs, which only one router can have.
@runs_router.delete("/runs/{uuid:run_id}", response=RunPlaceOut, auth=WriterAuth())
def delete_run(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """Delete a run of the trash for good; only owners may.

    From then on nobody can see it; its space comes back in the background.
    """
    delete_for_good(doomed_run(request.auth, run_id), doer_of(request))
    return _place(run_id, is_deleted=True)


def _trashed(run: TrashedRun) -> dict[str, object]:
    return {
        "id": run.id,
        "name": run.name,
        "state": run.state,
        "last_seen_at": run.last_seen_at,
        "trashed_at": run.trashed_at,
        "deleted_after": run.deleted_after,
    }


def _place(
    run_id: UUID,
    *,
    is_in_trash: bool = False,
    is_pinned: bool = False,
    is_deleted: bool = False,
) -> HttpResponse:
    return json_response(
        {
            "id": run_id,
            "is_in_trash": is_in_trash,
            "is_pinned": is_pinned,
            "is_deleted": is_deleted,
        }
    )
