"""The trash: runs that were taken away, and what a project keeps for how long."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.http import HttpResponse
from ninja import Field, Router, Schema

from tracker.access import (
    doomed_run,
    editable_run,
    owned_project,
    readable_project,
    trashed_run,
)
from tracker.actions.trash import (
    LONGEST_RETENTION_DAYS,
    SHORTEST_RETENTION_DAYS,
    delete_for_good,
    move_to_trash,
    pin,
    restore,
    set_retention,
    unpin,
)
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.params import Limit, Offset
from tracker.api.v1.members import doer_of
from tracker.api.v1.runs import router as runs_router
from tracker.queries.trash import TrashedRun, trash_page

router = Router(tags=["trash"], auth=ReaderAuth())

# Only described here: whoever sets it refuses in words that help more.
DAYS = {"minimum": SHORTEST_RETENTION_DAYS, "maximum": LONGEST_RETENTION_DAYS}
# Any JSON that says true is no number of days.
Days = Annotated[int, Field(strict=True, json_schema_extra=DAYS)]


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


class RetentionIn(Schema):
    retention_days: Days | None = Field(
        description="Runs silent for longer go to the trash; null keeps them for ever."
    )


class RetentionOut(Schema):
    workspace: str
    slug: str
    retention_days: int | None


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


@router.patch(
    "/projects/{slug:workspace}/{slug:project}",
    response=RetentionOut,
    auth=WriterAuth(),
)
def write_retention(
    request: ApiRequest, workspace: str, project: str, wanted: RetentionIn
) -> HttpResponse:
    """Say for how long the project keeps runs; only its owners may."""
    found = owned_project(request.auth, workspace, project)
    set_retention(found, wanted.retention_days, doer_of(request))
    return json_response(
        {
            "workspace": found.workspace.slug,
            "slug": found.slug,
            "retention_days": found.retention_days,
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
