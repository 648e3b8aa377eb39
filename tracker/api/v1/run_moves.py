"""Moves runs to another project of the workspace."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from ninja import Field, Router, Schema

from tracker.access.projects import editable_project, moving_target
from tracker.actions.runs.moves import MAX_RUNS, move_runs
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, WriterAuth
from tracker.api.v1.people.members import audit_context

router = Router(tags=["runs"], auth=WriterAuth())


class MoveIn(Schema):
    runs: list[UUID] = Field(json_schema_extra={"maxItems": MAX_RUNS})
    to: str = Field(description="The slug of the other project.")
    renames: bool = Field(
        False, description="true: a run whose name is taken there gets a number."
    )


class StayedOut(Schema):
    id: UUID
    name: str
    reason: str


class MovedOut(Schema):
    moved: list[UUID]
    stayed: list[StayedOut]


@router.post("/projects/{slug:workspace}/{slug:project}/move-runs", response=MovedOut)
def write_moves(
    request: ApiRequest, workspace: str, project: str, body: MoveIn
) -> HttpResponse:
    """Move ended runs, one by one; `stayed` lists those that cannot move."""
    found = editable_project(request.auth, workspace, project, to="change runs")
    target = moving_target(request.auth, found, body.to)
    runs = list(dict.fromkeys(body.runs))
    done = move_runs(found, runs, target, audit_context(request), renames=body.renames)
    stayed = [
        {"id": each.run_id, "name": each.name, "reason": each.reason}
        for each in done.stayed
    ]
    return json_response({"moved": done.moved, "stayed": stayed})
