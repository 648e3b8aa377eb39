"""Maps a line onto the values of another series, both given over steps (pure)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.series.points import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """The items of a line that have a position, and the positions; `outside` counts the
    rest.
    """

    kept: NDArray[np.bool_]
    x: Floats
    outside: int


def laid_over(steps: Floats, other_steps: Floats, other: Floats) -> Laid:
    """Interpolate the other series at each step.

    Steps before its first and after its last point have no value.
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
    """Return the first and last step at which values are in the range.

    One more point on each side, so that a line reaches the edges. None: no value.
    """
    inside = np.flatnonzero((values >= low) & (values <= high))
    if not len(inside):
        # The range may lie between two points.
        crossed = np.flatnonzero(
            (np.minimum(values[:-1], values[1:]) <= low)
            & (np.maximum(values[:-1], values[1:]) >= high)
        )
        if not len(crossed):
            return None
        return float(steps[crossed[0]]), float(steps[crossed[-1] + 1])
    first, last = max(0, inside[0] - 1), min(len(steps) - 1, inside[-1] + 1)
    return float(steps[first]), float(steps[last])
