"""Excludes points of a series that a later attempt has logged again (pure).

A restarted job continues from a checkpoint. Points that its earlier attempt logged
after that checkpoint are kept, but excluded from reads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.series.downsample import Buckets
from tracker.series.points import Floats, Integers, Points

Mask = NDArray[np.bool_]

# Before all points.
EVER = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class Replaced:
    """Steps from which only points at or after a time count.

    Created by `replaced_by`: steps and times increase, so only the last step at or
    before a point's own matters.
    """

    steps: Floats
    times: Integers  # microseconds since 1970

    def until(self, steps: Floats) -> Integers:
        """Return, for each step, the time before which points no longer count."""
        times = np.concatenate([[EVER], self.times])
        return times[np.searchsorted(self.steps, steps, side="right")]


def replaced_by(steps: Floats, times: Integers) -> Replaced:
    """Combine rewinds: from each step, before each time."""
    stairs = stairs_of(steps, times)
    return Replaced(steps[stairs], times[stairs])


def stairs_of(steps: Floats, times: Integers) -> Integers:
    """Return the indices of the effective rewinds, in order of their steps.

    A rewind is redundant if another has the same or a lower step and the same or a
    later time. Of equal ones the first counts.
    """
    order = np.lexsort((~times, steps))  # for a step, the latest first
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
    """Return which buckets have no point that still counts, as far as they show it."""
    return chunks.last_time < replaced.until(chunks.first_step)


def touched(chunks: Buckets, replaced: Replaced) -> Mask:
    """Return which buckets may hold points that no longer count."""
    return chunks.first_time < replaced.until(chunks.last_step)
