"""From what the API answers to values of Python (pure)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from agent.asking import Json


def given(**options: float | None) -> Json:
    return {name: value for name, value in options.items() if value is not None}


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
