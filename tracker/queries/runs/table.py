"""The runs table: its columns, and one page of its rows.

The number of statements for a page does not depend on its number of runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from tracker.models import Run, Stage, State
from tracker.queries.diagnoses.diagnoses import MainFinding, main_findings
from tracker.queries.run.attributes import AttributeRow, attribute_values
from tracker.queries.run.namespaces import TAGS_PATH
from tracker.queries.run.run import silent_for
from tracker.queries.runs.cells import Cell, read_cells
from tracker.queries.runs.column_keys import OfAttribute, of_attribute
from tracker.queries.runs.columns import each_of, run_seconds, run_wall_seconds
from tracker.queries.runs.cursor import cursor_at, place_of
from tracker.queries.runs.filter.filters import Found, RunFilter
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.pages import Stretch, places_of_page
from tracker.queries.runs.planner import planner
from tracker.queries.runs.summaries import (
    NO_NUMBERS,
    NUMBERS,
    SummaryNumbers,
    summary_numbers,
)
from tracker.queries.runs.verdicts import Verdict, verdicts

RUN_COLUMNS = (
    *("id", "name", "state", "made_by__username"),
    *("created_at", "started_at", "ended_at", "last_seen_at"),
    *("active_seconds", "active_since"),
)
TAGS_COLUMN = OfAttribute(TAGS_PATH, "last")


@dataclass(frozen=True, slots=True)
class RunRow:
    """Fields of columns that were not requested are empty."""

    id: UUID
    name: str
    state: str
    made_by: str  # "" for a run without a known author
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None  # for a crashed run: the time of its last data
    active_seconds: float | None  # time in which processes ran, until `active_since`
    active_since: datetime | None  # None if no process is running
    duration: float | None  # in seconds at the time of reading, like `wall_time`
    wall_time: float | None
    # Time of the last data of a running run that does not respond; otherwise None.
    silent_since: datetime | None
    stages: list[tuple[str, str]]  # name and state, in order of their start
    tags: list[str]
    main_finding: MainFinding | None
    verdict: Verdict | None  # None if there is a main finding
    numbers: SummaryNumbers
    cells: list[Cell]  # one per requested column; None if it is not an attribute


@dataclass(frozen=True, slots=True)
class RunsPage:
    total: int
    matching: int
    rows: list[RunRow]
    cursor: str  # start of the next page; empty on the last page


def runs_page(
    project_id: int,
    *,
    wanted: RunFilter,
    order: RunOrder,
    keys: Sequence[str],
    offset: int = 0,
    cursor: str = "",
    limit: int,
) -> RunsPage:
    """Return a page of runs with the columns `keys`, after `cursor` or `offset` runs."""
    found = Found(project_id, wanted)
    after, now = place_of(cursor, order) if cursor else (None, timezone.now())
    # One more run shows whether there is a next page.
    page = Stretch(order, now, after, offset, limit + 1)
    with planner() as plan:
        places = places_of_page(found, page, plan)
        total, matching = found.everyone.count, found.count
        shown, following = places[:limit], places[limit:]
        plan.expect_small_sets()
        rows = _rows([place.run_id for place in shown], keys)
    # A position does not contain the values of ties, so there is no next page.
    has_next = shown and following and not order.then
    return RunsPage(
        total=total,
        matching=matching,
        rows=rows,
        cursor=cursor_at(shown[-1], order, now) if has_next else "",
    )


def runs_in_order(
    project_id: int, *, wanted: RunFilter, order: RunOrder, limit: int
) -> list[UUID]:
    """Return the ids of the first runs of the order."""
    found = Found(project_id, wanted)
    with planner() as plan:
        page = Stretch(order, timezone.now(), None, 0, limit)
        return [place.run_id for place in places_of_page(found, page, plan)]


def run_rows(run_ids: list[UUID], keys: Sequence[str]) -> list[RunRow]:
    """Return the table rows of these runs in their order; deleted runs are missing."""
    with planner() as plan:
        plan.expect_small_sets()
        return _rows(run_ids, keys)


def values_of_runs(
    run_ids: list[UUID], paths: list[str]
) -> dict[UUID, dict[str, AttributeRow]]:
    """Return attributes of a page of runs with their summaries, by run and path."""
    if not paths:
        return {run_id: {} for run_id in run_ids}
    with planner() as plan:
        plan.expect_small_sets()
        return attribute_values(run_ids, paths)


def rows_of_project(
    project_id: int,
    run_ids: Sequence[UUID],
    keys: Sequence[str],
) -> list[RunRow]:
    """Return the rows of these runs that belong to the project and are not in the trash."""
    if not run_ids:
        return []
    own = Run.objects.filter(project_id=project_id, id__in=run_ids).not_in_trash()
    known = set(own.values_list("id", flat=True))
    wanted = [run_id for run_id in run_ids if run_id in known]
    return run_rows(wanted, keys)


def has_runs(project_id: int) -> bool:
    return Run.objects.filter(project_id=project_id).not_in_trash().exists()


def _rows(run_ids: list[UUID], keys: Sequence[str]) -> list[RunRow]:
    # Values instead of models, which would be hundreds of objects per page.
    found = Run.objects.filter(id__in=each_of(run_ids)).values_list(
        *RUN_COLUMNS, named=True
    )
    runs = {run.id: run for run in found}
    # Each source costs a statement; a page of metrics needs none but the cells.
    numbers = {} if set(keys).isdisjoint(NUMBERS) else summary_numbers(run_ids)
    stages = _stages(run_ids) if "stages" in keys else {}
    tags = TAGS_COLUMN if "tags" in keys else None
    cells = read_cells(run_ids, [*map(of_attribute, keys), tags])
    findings, without = _findings(run_ids) if "finding" in keys else ({}, {})
    now = timezone.now()
    return [
        RunRow(
            id=run.id,
            name=run.name,
            state=run.state,
            made_by=run.made_by__username or "",
            created_at=run.created_at,
            started_at=run.started_at,
            ended_at=_end(run),
            active_seconds=run.active_seconds,
            active_since=run.active_since,
            duration=run_seconds(run, now),
            wall_time=run_wall_seconds(run, now),
            silent_since=run.last_seen_at if silent_for(run, now=now) else None,
            stages=stages.get(run.id, []),
            tags=_texts(cells[run.id].pop()),
            main_finding=findings.get(run.id),
            verdict=without.get(run.id),
            numbers=numbers.get(run.id, NO_NUMBERS),
            cells=cells[run.id],
        )
        for run in (runs[run_id] for run_id in run_ids if run_id in runs)
    ]


def _findings(
    run_ids: list[UUID],
) -> tuple[dict[UUID, MainFinding], dict[UUID, Verdict]]:
    findings = main_findings(run_ids)
    return findings, verdicts([run_id for run_id in run_ids if run_id not in findings])


# Any: a row with those columns.
def _end(run: Any) -> datetime | None:
    is_running = run.state == State.RUNNING
    return run.ended_at or (None if is_running else run.last_seen_at)


def _stages(run_ids: list[UUID]) -> dict[UUID, list[tuple[str, str]]]:
    stages: dict[UUID, list[tuple[str, str]]] = {}
    rows = Stage.objects.filter(run_id__in=each_of(run_ids)).order_by(
        F("started_at").asc(nulls_last=True), "id"
    )
    for stage in rows:
        stages.setdefault(stage.run_id, []).append((stage.name, stage.state))
    return stages


def _texts(tags: Cell) -> list[str]:
    """Return the tags; a run may have another type of value at their path."""
    return tags if isinstance(tags, list) else []
