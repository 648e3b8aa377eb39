"""What of a series a later attempt has logged again (pure).

A job that is started again goes on from a checkpoint. The points that its earlier
attempt had logged behind it are kept, and left out of what is read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.series.downsample import Buckets
from tracker.series.points import Floats, Integers, Points

Mask = NDArray[np.bool_]

# Nothing was logged before it.
EVER = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class Replaced:
    """From which steps on points count only if they are not older than a time.

    Made by `replaced_by`: steps and times rise, so that of a point only the last step
    that is not behind its own has to be looked at.
    """

    steps: Floats
    times: Integers  # microseconds since 1970

    def until(self, steps: Floats) -> Integers:
        """Return, for each of any steps, before which time points no longer count."""
        times = np.concatenate([[EVER], self.times])
        return times[np.searchsorted(self.steps, steps, side="right")]


def replaced_by(steps: Floats, times: Integers) -> Replaced:
    """Return what rewinds replace together: from each step on, before each time."""
    stairs = stairs_of(steps, times)
    return Replaced(steps[stairs], times[stairs])


def stairs_of(steps: Floats, times: Integers) -> Integers:
    """Return the places of the rewinds that matter, in order of their steps.

    One of the same step or a lower one, and of the same time or a later one, replaces
    all that another does. Of equal ones the first matters.
    """
    order = np.lexsort((~times, steps))  # of a step, the latest first
    ordered = times[order]
    matters = np.ones(len(order), np.bool_)
    matters[1:] = ordered[1:] > np.maximum.accumulate(ordered)[:-1]
    return order[matters]


def without(points: Points, replaced: Replaced | None) -> Points:
    """Return the points that were not logged again."""
    if replaced is None or not len(points):
        return points
    kept = points.times >= replaced.until(points.steps)
    return points if kept.all() else points[kept]


def gone(chunks: Buckets, replaced: Replaced) -> Mask:
    """Return which buckets hold no point that still counts, as far as they show it."""
    return chunks.last_time < replaced.until(chunks.first_step)


def touched(chunks: Buckets, replaced: Replaced) -> Mask:
    """Return which buckets may hold points that no longer count."""
    return chunks.first_time < replaced.until(chunks.last_step)
