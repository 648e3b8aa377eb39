"""Checks the sum of a series' chunks against its row (pure)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from tracker.models import Attribute, SeriesChunk
from tracker.series.downsample import LARGEST_TOTAL
from tracker.series.points import Points

Number = TypeVar("Number", int, float)

# Sums of the same numbers in another order differ by rounding.
TOLERANCE = 1e-9
# With more values at one step, the last one is not checked.
MAX_LAST_VALUES = 100_000
NAMES = (
    *("count", "finite_count", "minimum", "maximum"),
    *("first_step", "last_step", "first_time", "last_time"),
)


@dataclass(slots=True)
class Whole:
    """The sum of a series' chunks."""

    count: int = 0
    finite_count: int = 0
    minimum: float | None = None
    maximum: float | None = None
    total: float = 0.0
    first_step: float | None = None
    last_step: float | None = None
    first_time: int | None = None
    last_time: int | None = None
    # The sum of the absolute values, to scale the tolerance.
    magnitude: float = 0.0
    # Values at the highest step, any of which may be the last.
    last_values: list[float] = field(default_factory=list)
    # `last_values` has every value at the highest step.
    is_complete: bool = True

    def add_row(self, chunk: SeriesChunk) -> None:
        self.count += chunk.count
        self.finite_count += chunk.finite_count
        self.minimum = _best(min, self.minimum, chunk.minimum)
        self.maximum = _best(max, self.maximum, chunk.maximum)
        self.total += min(max(chunk.total, -LARGEST_TOTAL), LARGEST_TOTAL)
        if chunk.finite_count:
            largest = max(abs(chunk.minimum or 0.0), abs(chunk.maximum or 0.0))
            self.magnitude += largest * chunk.finite_count
        self.first_step = _best(min, self.first_step, chunk.first_step)
        self.first_time = _best(min, self.first_time, chunk.first_time)
        self.last_time = _best(max, self.last_time, chunk.last_time)
        if self.last_step is None or chunk.last_step > self.last_step:
            self.last_step = chunk.last_step
            self.last_values.clear()

    def add_points(self, points: Points) -> None:
        """Add the values at the highest step; call it after `add_row`."""
        if points.steps.max() == self.last_step:
            last = points.values[points.steps == self.last_step]
            self.last_values += np.unique(last).tolist()
        if len(self.last_values) > MAX_LAST_VALUES:
            self.is_complete = False


def series_faults(row: Attribute, whole: Whole) -> Iterator[str]:
    """Yield differences between a series' row and its chunks."""
    for name in NAMES:
        stored, found = getattr(row, name), getattr(whole, name)
        if stored != found:
            yield f"{name} is {_shown(stored)} in its row and {_shown(found)} in its chunks"
    if abs(row.total - whole.total) > TOLERANCE * max(whole.magnitude, 1e-300):
        yield f"total is {row.total} in its row and {whole.total} in its chunks"
    if whole.is_complete and whole.count and not _is_last(row, whole):
        yield "its last value is not one of those at its highest step"


def _is_last(row: Attribute, whole: Whole) -> bool:
    if row.is_nan:
        return any(math.isnan(value) for value in whole.last_values)
    return row.number in whole.last_values


def _best(
    choose: Callable[[Number, Number], Number], known: Number | None, new: Number | None
) -> Number | None:
    if known is None or new is None:
        return new if known is None else known
    return choose(known, new)


def _shown(value: float | None) -> str:
    return "nothing" if value is None else f"{value}"
