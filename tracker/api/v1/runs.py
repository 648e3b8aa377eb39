"""The runs of a project, and one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from uuid import UUID

from django.http import HttpResponse
from ninja import Router, Schema

from tracker.access.projects import readable_project
from tracker.access.runs import readable_run
from tracker.api.answers import json_response, number
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.params import (
    Columns,
    Cursor,
    KindName,
    Limit,
    Offset,
    Prefix,
    RunQuery,
    Sort,
    StateName,
    Text,
)
from tracker.api.v1.attributes import (
    AttributeOut,
    SeriesSummaryOut,
    attribute_answer,
)
from tracker.queries.backlog import waiting_points
from tracker.queries.run.attributes import AttributeRow
from tracker.queries.run.family import ForkPoint, children_of, fork_point_of, parent_of
from tracker.queries.run.paths import paths_beginning
from tracker.queries.run.run import ProcessRow, RunOverview, StageRow, run_overview
from tracker.queries.runs.column_keys import OF_RUN
from tracker.queries.runs.filter.filters import RunFilter, read_query
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.table import RunRow, runs_page, values_of_runs

router = Router(tags=["runs"], auth=ReaderAuth())


class StageOut(Schema):
    name: str
    state: str


class MainFindingOut(Schema):
    rule: str
    title: str
    severity: str
    label: str  # possible, likely or confirmed


class RunOut(Schema):
    """`attributes` are those of the requested columns, in that order."""

    id: UUID
    name: str
    state: str
    started_at: datetime | None
    ended_at: datetime | None
    duration_seconds: float | None
    wall_seconds: float | None
    stages: list[StageOut]
    tags: list[str]
    gpu_percent: float | str | None
    cpu_percent: float | str | None
    main_finding: MainFindingOut | None
    attributes: list[SeriesSummaryOut | AttributeOut | None]


class RunsOut(Schema):
    """`next` is the cursor of the next page; null: this is the last one."""

    total: int
    matching: int
    next: str | None
    runs: list[RunOut]


class PathOut(Schema):
    """`kind` is that of one run; the path may have another kind in others."""

    path: str
    kind: str


class PathsOut(Schema):
    paths: list[PathOut]


class ProcessOut(Schema):
    """`refused` counts rejected messages by code; `dropped_points` counts lost points.

    A helper was started by another process of the run; its crash does not affect the
    stage, because parents terminate workers when they are done.
    """

    rank: int
    host: str
    process_id: int
    is_helper: bool
    state: str
    failure: str
    started_at: datetime
    ended_at: datetime | None
    agent_version: str
    dropped_points: int
    refused: dict[str, int]


class StageDetailOut(StageOut):
    failure: str
    started_at: datetime | None
    gpu_percent: float | str | None
    cpu_percent: float | str | None
    processes: list[ProcessOut]


class ReopeningOut(Schema):
    """A process that joined the run after it had finished.

    Without `may_change`, the process could add to the run but not change it.
    """

    joined_at: datetime
    user: str
    token: str
    stage: str
    rank: int
    host: str
    may_change: bool
    is_new_stage: bool


class RelativeOut(Schema):
    id: UUID
    name: str
    state: str


class ForkPointOut(Schema):
    """The last step that the run has from another one.

    `run` is null if that one is deleted, in the trash or not readable. `is_pending`:
    its series are not copied yet.
    """

    step: float
    run: RelativeOut | None
    is_pending: bool


class RunDetailOut(Schema):
    """`waiting_points` counts received points that are in no summary yet.

    `workspace` and `project` are slugs. `children` are at most 100 of `children_count`.
    """

    id: UUID
    workspace: str
    project: str
    name: str
    state: str
    started_at: datetime | None
    ended_at: datetime | None
    duration_seconds: float | None
    wall_seconds: float | None
    last_seen_at: datetime
    waiting_points: int
    parent: RelativeOut | None
    children: list[RelativeOut]
    children_count: int
    fork_point: ForkPointOut | None
    tags: list[str]
    stages: list[StageDetailOut]
    reopenings: list[ReopeningOut]


@router.get("/projects/{slug:workspace}/{slug:project}/runs", response=RunsOut)
def read_runs(
    request: ApiRequest,
    *,
    workspace: str,
    project: str,
    search: Text = "",
    state: StateName = "",
    tag: Text = "",
    query: RunQuery = "",
    sort: Sort = "-started",
    offset: Offset = 0,
    cursor: Cursor = "",
    limit: Limit = 100,
    columns: Columns = [],  # noqa: B006 - ninja copies it
) -> HttpResponse:
    """A page of the project's runs."""
    found = readable_project(request.auth, workspace, project)
    page = runs_page(
        found.id,
        wanted=RunFilter(search, state, tag, read_query(query)),
        order=RunOrder(sort.removeprefix("-"), is_descending=sort.startswith("-")),
        keys=OF_RUN,
        offset=offset,
        cursor=cursor,
        limit=limit,
    )
    values = values_of_runs([row.id for row in page.rows], columns)
    return json_response(
        {
            "total": page.total,
            "matching": page.matching,
            "next": page.cursor or None,
            "runs": [
                _run(row, [values[row.id].get(path) for path in columns])
                for row in page.rows
            ],
        }
    )


@router.get(
    "/projects/{slug:workspace}/{slug:project}/attribute-paths", response=PathsOut
)
def read_attribute_paths(
    request: ApiRequest,
    *,
    workspace: str,
    project: str,
    prefix: Prefix = "",
    kind: KindName = "",
) -> HttpResponse:
    """The first attribute paths of the project's runs, to complete a query."""
    found = readable_project(request.auth, workspace, project)
    paths = paths_beginning(found.id, prefix, kind=kind)
    return json_response(
        {"paths": [{"path": row.path, "kind": row.kind} for row in paths]}
    )


@router.get("/runs/{uuid:run_id}", response=RunDetailOut)
def read_run(request: ApiRequest, run_id: UUID) -> HttpResponse:
    """One run: its state, its tags, and its stages with their processes."""
    run = readable_run(request.auth, run_id)
    parent, children = parent_of(run, request.auth), children_of(run, request.auth)
    return json_response(
        {
            "id": run_id,
            "workspace": run.project.workspace.slug,
            "project": run.project.slug,
            **_overview(run_overview(run)),
            "waiting_points": waiting_points(run_id),
            "parent": parent and parent._asdict(),
            "children": [child._asdict() for child in children.runs],
            "children_count": children.count,
            "fork_point": _fork_point(fork_point_of(run, request.auth)),
        }
    )


def _fork_point(found: ForkPoint | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {
        "step": found.step,
        "run": found.run and found.run._asdict(),
        "is_pending": found.is_pending,
    }


def _run(row: RunRow, attributes: Sequence[AttributeRow | None]) -> dict[str, object]:
    return {
        "id": row.id,
        "name": row.name,
        "state": row.state,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "duration_seconds": row.duration,
        "wall_seconds": row.wall_time,
        "stages": [{"name": name, "state": state} for name, state in row.stages],
        "tags": row.tags,
        "gpu_percent": number(row.numbers.gpu),
        "cpu_percent": number(row.numbers.cpu),
        "main_finding": row.main_finding
        and {
            "rule": row.main_finding.rule,
            "title": row.main_finding.title,
            "severity": row.main_finding.severity,
            "label": row.main_finding.label,
        },
        "attributes": [value and attribute_answer(value) for value in attributes],
    }


def _overview(run: RunOverview) -> dict[str, object]:
    return {
        "name": run.name,
        "state": run.state,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "duration_seconds": run.duration,
        "wall_seconds": run.wall_time,
        "last_seen_at": run.last_seen_at,
        "tags": run.tags,
        "stages": [_stage(stage) for stage in run.stages],
        "reopenings": [asdict(row) for row in run.reopenings],
    }


def _stage(stage: StageRow) -> dict[str, object]:
    return {
        "name": stage.name,
        "state": stage.state,
        "failure": stage.failure,
        "started_at": stage.started_at,
        "gpu_percent": number(stage.gpu_percent),
        "cpu_percent": number(stage.cpu_percent),
        "processes": [_process(process) for process in stage.processes],
    }


def _process(process: ProcessRow) -> dict[str, object]:
    return {
        "rank": process.rank,
        "host": process.host,
        "process_id": process.process_id,
        "is_helper": process.is_helper,
        "state": process.state,
        "failure": process.failure,
        "started_at": process.started_at,
        "ended_at": process.ended_at,
        "agent_version": process.agent_version,
        "dropped_points": process.dropped_points,
        "refused": process.refused,
    }
