"""A runs table as CSV: the same runs, columns and order, or its groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.http import HttpResponseBase
from django.views.decorators.http import require_safe

from tracker.access.projects import readable_project
from tracker.actions.people.audit import Action
from tracker.queries.runs.cells import Cell as TableCell
from tracker.queries.runs.column_keys import of_attribute
from tracker.queries.runs.groups import RunGroup, RunGroups
from tracker.queries.runs.table import RunRow, run_rows, runs_in_order
from web.csv_answer import Cell, Row, csv_answer
from web.pages.runs.blocks import grouped, shown_columns
from web.pages.runs.cells import cell_value
from web.pages.runs.table_state import TableState, read_table
from web.request_actor import audit_context
from web.session import PageRequest, signed_in

MAX_RUNS = 500_000
ROWS_AT_ONCE = 500
MAX_GROUPS = 10_000
# The unit of a column, if its name does not include it.
UNITS = {
    "duration": "duration (s)",
    "wall_time": "wall time (s)",
    "gpu": "gpu (%)",
    "cpu": "cpu (%)",
    "gpu_idle": "gpu idle (%)",
    "gpu_hours": "gpu hours",
    "energy": "energy (J)",
    "finding": "main finding",
    "made_by": "created by",
}
OF_STATE = ("state", "stages")
# Aggregates of a column over the runs of a group.
AGGREGATES = {
    "count": "runs with",
    "mean": "mean of",
    "lowest": "lowest",
    "highest": "highest",
    "best": "best",
}


@require_safe
@signed_in
def runs_csv(request: PageRequest, workspace: str, project: str) -> HttpResponseBase:
    found = readable_project(request.actor, workspace, project)
    state = read_table(request.GET)
    audit_context(request).note(
        Action.EXPORTED, "runs", found.workspace, project=found.slug
    )
    if state.groups:
        return csv_answer(_groups(found.id, state), f"{found.slug}-groups.csv")
    return csv_answer(_rows(found.id, state), f"{found.slug}-runs.csv")


def _groups(project_id: int, state: TableState) -> Iterator[Row]:
    """Read the groups, as far as they can be, before anything is answered."""
    found = grouped(project_id, state, most=MAX_GROUPS)
    # Text columns have no aggregates, and columns without a direction no best value.
    numbers = [
        (place, name, f"{said} {_title(key)}")
        for place, key in enumerate(found.columns)
        for name, said in AGGREGATES.items()
        if any(_aggregate(group, place, name) is not None for group in found.groups)
    ]
    return _group_rows(state.groups, numbers, found)


def _group_rows(
    keys: Sequence[str], numbers: Sequence[tuple[int, str, str]], found: RunGroups
) -> Iterator[Row]:
    yield [*map(_title, keys), "runs", *(title for _, _, title in numbers)]
    for group in found.groups:
        cells = (_aggregate(group, place, name) for place, name, _ in numbers)
        yield [*group.values, group.count, *cells]
    if found.is_cut:
        yield [f"# These are the {len(found.groups):,} largest groups; there are more."]
    if found.left_out:
        left_out = ", ".join(map(_title, found.left_out))
        yield [f"# Of so many runs, these columns have no numbers: {left_out}."]


def _aggregate(group: RunGroup, place: int, name: str) -> float | None:
    numbers = group.numbers[place]
    found: float | None = getattr(numbers, name) if numbers.count else None
    return found


def _rows(project_id: int, state: TableState) -> Iterator[Row]:
    """Read the runs in their current state, a few at a time."""
    keys = shown_columns(project_id, state)
    if not state.columns:
        # A page shows the state as a sign.
        keys = [*OF_STATE, *keys]
    yield ["name", *map(_title, keys), "id"]
    ids = runs_in_order(
        project_id, wanted=state.wanted, order=state.order, limit=MAX_RUNS + 1
    )
    is_cut = len(ids) > MAX_RUNS
    ids = ids[:MAX_RUNS]
    for low in range(0, len(ids), ROWS_AT_ONCE):
        some = ids[low : low + ROWS_AT_ONCE]
        for row in run_rows(some, keys):
            cells = (_cell(row, *at) for at in zip(keys, row.cells, strict=True))
            yield [row.name, *cells, str(row.id)]
    if is_cut:
        yield [f"# These are the first {MAX_RUNS:,} runs; there are more."]


def _cell(row: RunRow, key: str, own: TableCell) -> Cell:
    if key == "stages":
        return [f"{name}: {state}" for name, state in row.stages]
    found: Cell = cell_value(row, key, own)
    return found


def _title(key: str) -> str:
    column = of_attribute(key)
    if column is None:
        return UNITS.get(key, key)
    if column.summary == "last":
        return column.path
    return f"{column.summary}({column.path})"
