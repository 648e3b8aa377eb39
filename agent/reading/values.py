"""Converts values of API responses to Python values (pure)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from seamark.reading.client import Json
from seamark.recording.values import to_microseconds

# A bound of a range: a number on its axis, or a datetime on the time axis.
Edge = float | datetime


def given(**options: float | None) -> Json:
    return {name: value for name, value in options.items() if value is not None}


def given_range(axis: str, low: Edge | None, high: Edge | None) -> Json:
    """Return the query parameters for a range of an axis.

    Raises:
        ValueError: A datetime is used with an axis other than `time`.
    """
    return {"axis": axis, **given(low=_place(low, axis), high=_place(high, axis))}


def _place(edge: Edge | None, axis: str) -> float | None:
    if not isinstance(edge, datetime):
        return edge
    if axis != "time":
        raise ValueError(f"A datetime needs axis='time', not axis={axis!r}.")
    # Milliseconds, as on the axis, so that a point at this time is in the range.
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
    """Return a JSON number, or NaN or an infinity encoded as text."""
    return float(value) if value is not None else math.nan


def to_moment(text: str) -> datetime:
    # Python 3.10 does not parse the Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
