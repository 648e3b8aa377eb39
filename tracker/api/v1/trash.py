"""The trash of a project, and pinned runs, which cannot be trashed."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.http import HttpResponse
from ninja import Router, Schema

from tracker.access.projects import readable_project
from tracker.access.runs import doomed_run, editable_run, trashed_run
from tracker.actions.runs.trash import (
    delete_for_good,
    move_to_trash,
    pin,
    restore,
    unpin,
)
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.params import Limit, Offset
from tracker.api.v1.people.members import audit_context
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
    """`being_deleted` counts deleted runs whose data is not fully removed yet."""

    total: int
    being_deleted: int
    runs: list[TrashedRunOut]


class RunPlaceOut(Schema):
    """The state of a run: trashed, pinned or deleted."""

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
    """A page of the project's trash, most recently trashed first."""
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
    """Move a run to the trash, from which it can be restored for 30 days."""
    run = editable_run(request.auth, run_id)
    move_to_trash(run)
    return _place(run_id, is_in_trash=True)


@router.post("/runs/{uuid:run_id}/restore", response=RunPlaceOut, auth=WriterAuth())
def restore_run(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """Restore a run; pin it if retention would trash it again at once."""
    run = trashed_run(request.auth, run_id)
    restore(run)
    return _place(run_id, is_pinned=run.pinned_at is not None)


@router.post("/runs/{uuid:run_id}/pin", response=RunPlaceOut, auth=WriterAuth())
def pin_run(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """Exclude a run from retention and from the trash."""
    pin(editable_run(request.auth, run_id))
    return _place(run_id, is_pinned=True)


@router.post("/runs/{uuid:run_id}/unpin", response=RunPlaceOut, auth=WriterAuth())
def unpin_run(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """Make a run subject to retention again."""
    unpin(editable_run(request.auth, run_id))
    return _place(run_id)


# On the router of runs, because only one router can serve the address.
@runs_router.delete("/runs/{uuid:run_id}", response=RunPlaceOut, auth=WriterAuth())
def delete_run(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """Delete a trashed run permanently; only for owners.

    It becomes invisible at once; its space is reclaimed in the background.
    """
    delete_for_good(doomed_run(request.auth, run_id), audit_context(request))
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
