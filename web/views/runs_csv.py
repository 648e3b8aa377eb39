"""What a runs table shows, as a CSV: the same runs, columns and order."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import HttpResponseBase
from django.views.decorators.http import require_safe

from tracker.access import readable_project
from tracker.queries.column_keys import of_attribute, paths_of, with_gpu_time
from tracker.queries.runs import RunRow, run_rows, runs_in_order
from web.csv_answer import Cell, Row, csv_answer
from web.run_blocks import shown_columns, value_places
from web.run_cells import cell_value
from web.session import PageRequest, signed_in
from web.table_state import TableState, read_table

MOST_RUNS = 500_000
ROWS_AT_ONCE = 500
# What the numbers of a column are, where that is not said by its name.
UNITS = {
    "duration": "duration (s)",
    "gpu": "gpu (%)",
    "cpu": "cpu (%)",
    "gpu_idle": "gpu idle (%)",
    "gpu_hours": "gpu hours",
    "energy": "energy (J)",
    "finding": "main finding",
    "made_by": "made by",
}


@require_safe
@signed_in
def runs_csv(request: PageRequest, workspace: str, project: str) -> HttpResponseBase:
    found = readable_project(request.actor, workspace, project)
    rows = _rows(found.id, read_table(request.GET))
    return csv_answer(rows, f"{found.slug}-runs.csv")


def _rows(project_id: int, state: TableState) -> Iterator[Row]:
    """Read the runs as they are when asked for, a few at a time."""
    keys = shown_columns(project_id, state)
    paths = paths_of(keys)
    places = value_places(keys, paths)
    yield ["name", *map(_title, keys), "id"]
    ids = runs_in_order(
        project_id, wanted=state.wanted, order=state.order, limit=MOST_RUNS
    )
    for low in range(0, len(ids), ROWS_AT_ONCE):
        some = ids[low : low + ROWS_AT_ONCE]
        for row in run_rows(some, paths, gpu_time=with_gpu_time(keys)):
            cells = (_cell(row, *at) for at in zip(keys, places, strict=True))
            yield [row.name, *cells, str(row.id)]


def _cell(row: RunRow, key: str, place: int | None) -> Cell:
    if key == "stages":
        return [f"{name}: {state}" for name, state in row.stages]
    found: Cell = cell_value(row, key, place)
    return found


def _title(key: str) -> str:
    column = of_attribute(key)
    if column is None:
        return UNITS.get(key, key)
    if column.summary == "last":
        return column.path
    return f"{column.summary}({column.path})"
