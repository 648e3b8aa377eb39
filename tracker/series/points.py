"""Points: the steps, times and values of one series, as arrays of equal length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Any number of points, in any order; steps may repeat and be fractional."""

    steps: Floats
    times: Integers  # microseconds since 1970, UTC
    values: Floats

    @staticmethod
    def empty() -> Points:
        return Points(
            np.empty(0, np.float64), np.empty(0, np.int64), np.empty(0, np.float64)
        )

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: slice | NDArray[Any]) -> Points:
        """Return the points selected by a slice, a mask or an array of indices."""
        return Points(self.steps[index], self.times[index], self.values[index])

    def copy(self) -> Points:
        """Return a copy with its own memory."""
        return Points(self.steps.copy(), self.times.copy(), self.values.copy())

    def sorted_by_step(self) -> Points:
        """Sort by step, then time; equal points keep their order."""
        if np.all(self.steps[1:] > self.steps[:-1]):
            return self  # as nearly always; sorting would dominate a read
        return self[np.lexsort((self.times, self.steps))]

    def sorted_by_time(self) -> Points:
        """Sort by time, then step; equal points keep their order."""
        if np.all(self.times[1:] > self.times[:-1]):
            return self
        return self[np.lexsort((self.steps, self.times))]


def concatenate(parts: Sequence[Points]) -> Points:
    if not parts:
        return Points.empty()
    if len(parts) == 1:
        return parts[0]
    return Points(
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.values for part in parts]),
    )
