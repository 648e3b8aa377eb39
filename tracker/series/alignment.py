"""Lays a line over the values of another series, both known over steps (pure)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.series.points import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """Which items of a line have a place, and where; `outside` is how many have none."""

    kept: NDArray[np.bool_]
    x: Floats
    outside: int


def laid_over(steps: Floats, other_steps: Floats, other: Floats) -> Laid:
    """Find where the other series was at each step, between its points in proportion.

    Before its first and after its last point nobody knows where it was.
    """
    known = np.isfinite(other)
    other_steps, other = other_steps[known], other[known]
    if not len(other):
        return Laid(np.zeros(len(steps), np.bool_), np.empty(0), len(steps))
    kept = (steps >= other_steps[0]) & (steps <= other_steps[-1])
    x = np.interp(steps[kept], other_steps, other)
    return Laid(kept, x, int((~kept).sum()))


def steps_between(
    steps: Floats, values: Floats, low: float, high: float
) -> tuple[float, float] | None:
    """Return the steps from the first to the last at which values lie in the range.

    One point more on each side, so that a line reaches the edges. None: nowhere.
    """
    inside = np.flatnonzero((values >= low) & (values <= high))
    if not len(inside):
        # Between two points the range may lie all the same.
        crossed = np.flatnonzero(
            (np.minimum(values[:-1], values[1:]) <= low)
            & (np.maximum(values[:-1], values[1:]) >= high)
        )
        if not len(crossed):
            return None
        return float(steps[crossed[0]]), float(steps[crossed[-1] + 1])
    first, last = max(0, inside[0] - 1), min(len(steps) - 1, inside[-1] + 1)
    return float(steps[first]), float(steps[last])
