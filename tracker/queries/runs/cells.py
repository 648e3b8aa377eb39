"""Cells of a runs table: values of attributes, read without the ORM.

A page of 100 runs and 50 columns has 5,000 cells. Model instances of them take several
times as long as the query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, TypeAlias
from uuid import UUID

import orjson

from tracker.models import Kind
from tracker.queries.run.attributes import Value, storable, stored_value
from tracker.queries.runs.column_keys import OfAttribute
from tracker.server.statements import every_row, key, many


class Logged(Enum):
    """Logged values that an empty cell must differ from."""

    NONE = "none"  # the script logged None


Cell: TypeAlias = Value | Logged | None
Row: TypeAlias = tuple[Any, ...]

SELECT_VALUES = """
SELECT run_id, path, kind, number, is_nan, text, items
FROM tracker_attribute WHERE run_id IN ({runs}) AND path = ANY(%s)
"""
SELECT_SUMMARIES = """
SELECT run_id, path, kind, number, is_nan, text, items, minimum, maximum, total,
       finite_count, count, first_step, last_step
FROM tracker_attribute WHERE run_id IN ({runs}) AND path = ANY(%s)
"""
PLAIN_NUMBERS = {Kind.FLOAT.value, Kind.FLOAT_SERIES.value}


def read_cells(
    run_ids: Sequence[UUID], columns: Sequence[OfAttribute | None]
) -> dict[UUID, list[Cell]]:
    """Return one cell per column for each run; None: no such attribute, or no column."""
    cells: dict[UUID | str, list[Cell]] = {
        key(run_id): [None] * len(columns) for run_id in run_ids
    }
    readers: dict[str, list[tuple[int, Callable[[Row], Cell]]]] = {}
    for place, column in enumerate(columns):
        if column is not None:
            reader = (place, READERS[column.summary])
            readers.setdefault(column.path, []).append(reader)
    paths = storable(readers)
    if paths and run_ids:
        is_plain = all(column is None or column.summary == "last" for column in columns)
        statement = SELECT_VALUES if is_plain else SELECT_SUMMARIES
        for row in every_row(statement, [many(paths)], run_ids=run_ids):
            own = cells[row[0]]
            for place, read in readers[row[1]]:
                own[place] = read(row)
    return {run_id: cells[key(run_id)] for run_id in run_ids}


def _last(row: Row) -> Cell:
    _, _, kind, number, is_nan, text, items = row[:7]
    if number is not None and kind in PLAIN_NUMBERS:
        plain: float = number
        return plain
    if kind == Kind.NONE:
        return Logged.NONE
    # PostgreSQL's driver has read the JSON.
    parsed = orjson.loads(items) if isinstance(items, str) else items
    return stored_value(kind, number, is_nan, text, parsed)


def _mean(row: Row) -> Cell:
    total, finite_count = row[9], row[10]
    return total / finite_count if finite_count else None


READERS: dict[str, Callable[[Row], Cell]] = {
    "last": _last,
    "min": lambda row: row[7],
    "max": lambda row: row[8],
    "mean": _mean,
    "count": lambda row: row[11] or None,
    "first_step": lambda row: row[12],
    "last_step": lambda row: row[13],
}
