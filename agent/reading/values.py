"""From what the API answers to values of Python (pure)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from seamark.reading.client import Json
from seamark.recording.values import to_microseconds

# Where a range begins or ends: a place on its axis; of times, a moment as well.
Edge = float | datetime


def given(**options: float | None) -> Json:
    return {name: value for name, value in options.items() if value is not None}


def given_range(axis: str, low: Edge | None, high: Edge | None) -> Json:
    """Return what asks for a range of an axis.

    Raises:
        ValueError: A moment, of an axis that is not time.
    """
    return {"axis": axis, **given(low=_place(low, axis), high=_place(high, axis))}


def _place(edge: Edge | None, axis: str) -> float | None:
    if not isinstance(edge, datetime):
        return edge
    if axis != "time":
        raise ValueError(f"A moment is no place on the axis {axis}: say axis='time'.")
    # As the axis counts: a point of that very moment is in the range.
    return to_microseconds(edge) / 1000


def to_value(row: Json) -> object:
    value, kind = row["value"], row["kind"]
    if isinstance(value, str):
        if kind in ("float", "float_series"):
            return to_number(value)
        if kind == "integer":
            return int(value)
        if kind == "datetime":
            return to_moment(value)
    return frozenset(value) if isinstance(value, list) else value


def to_numbers(column: Sequence[float | str]) -> list[float]:
    return [to_number(value) for value in column]


def to_number(value: float | str) -> float:
    """Return a number that JSON cannot hold, too: NaN or an infinity as text."""
    return float(value) if value is not None else math.nan


def to_moment(text: str) -> datetime:
    # Python 3.10 does not read the Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
