"""Cells of the runs table and their JSON form."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from tracker.queries.run.attributes import AttributeRow, Value
from tracker.queries.runs.column_keys import of_attribute
from tracker.queries.runs.table import RunRow
from web.templatetags.format import LARGEST_EXACT, number

NUMBERS_OF_SUMMARY: dict[str, Callable[[AttributeRow], float | int | None]] = {
    "min": lambda row: row.minimum,
    "max": lambda row: row.maximum,
    "mean": lambda row: row.mean,
    "count": lambda row: row.count or None,
    "first_step": lambda row: row.first_step,
    "last_step": lambda row: row.last_step,
}


NONE = "none"

# The page counts these on while a run is running; otherwise every answer would differ.
PASSING = ("duration", "wall_time")


# Any: whatever JSON can hold.
def json_cell(row: RunRow, key: str, place: int | None) -> Any:
    """Return what the page shows; null where the run has nothing there.

    `place` is where the column's attribute stands among the row's values.
    """
    if key in PASSING and row.active_since is not None:
        return None
    if key == "finding":
        finding = row.main_finding
        if finding is None:
            return {"verdict": row.verdict}
        return {"severity": finding.severity, "title": finding.title}
    attribute = None if place is None else row.values[place]
    if attribute is not None and attribute.kind == NONE:
        return {"none": True}
    return json_value(cell_value(row, key, place))


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
def cell_value(row: RunRow, key: str, place: int | None) -> Any:
    if key in OF_RUN:
        return OF_RUN[key](row)
    column = of_attribute(key)
    attribute = None if place is None else row.values[place]
    if column is None or attribute is None:
        return None
    return _of_summary(attribute, column.summary)


def milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1_000)


def _of_summary(row: AttributeRow, summary: str) -> Value | None:
    if summary == "last":
        return row.value
    return NUMBERS_OF_SUMMARY[summary](row)


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
