"""Cells of the runs table and their JSON form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from tracker.queries.runs.cells import Cell, Logged
from tracker.queries.runs.table import RunRow
from web.templatetags.format import LARGEST_EXACT, number

# The page counts these on while a run is running; otherwise every answer would differ.
PASSING = ("duration", "wall_time")


# Any: whatever JSON can hold.
def json_cells(row: RunRow, keys: Sequence[str]) -> list[Any]:
    """Return the cells of a row as JSON values; null is an empty cell."""
    return [
        # Most of a table are numbers, and a page has thousands of them.
        cell
        if type(cell) is float and math.isfinite(cell)
        else _json_cell(row, key, cell)
        for key, cell in zip(keys, row.cells, strict=True)
    ]


# Any: likewise.
def _json_cell(row: RunRow, key: str, cell: Cell) -> Any:
    if key in PASSING and row.active_since is not None:
        return None
    if key == "finding":
        finding = row.main_finding
        if finding is None:
            return {"verdict": row.verdict}
        shown = {"severity": finding.severity, "title": finding.title}
        return {**shown, "possible": True} if finding.is_possible else shown
    if cell is Logged.NONE:
        return {"none": True}
    return json_value(cell_value(row, key, cell))


# Any: likewise.
def json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"time": milliseconds(value)}
    # JSON has no word for NaN, and a browser's numbers skip large integers.
    if isinstance(value, float) and not math.isfinite(value):
        return {"special": number(value)}
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return {"special": number(value)}
    return value


# Any: of many types, as the columns.
def cell_value(row: RunRow, key: str, cell: Cell) -> Any:
    """Return the value of a column; `cell` is its attribute, if it is one."""
    if key in OF_RUN:
        return OF_RUN[key](row)
    return None if cell is Logged.NONE else cell


def milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1_000)


OF_RUN: dict[str, Callable[[RunRow], Any]] = {
    "state": lambda row: row.state,
    "created": lambda row: row.created_at,
    "started": lambda row: row.started_at,
    "ended": lambda row: row.ended_at,
    "duration": lambda row: row.duration,
    "wall_time": lambda row: row.wall_time,
    "stages": lambda row: row.stages,
    "tags": lambda row: row.tags,
    "finding": lambda row: row.main_finding and row.main_finding.title,
    "gpu": lambda row: row.numbers.gpu,
    "cpu": lambda row: row.numbers.cpu,
    "gpu_idle": lambda row: row.numbers.gpu_idle,
    "gpu_hours": lambda row: row.numbers.gpu_hours,
    "energy": lambda row: row.numbers.energy,
    "made_by": lambda row: row.made_by or None,
}
