"""What of a series a later attempt has logged again (pure).

A job that is started again goes on from a checkpoint. The points that its earlier
attempt had logged behind it are kept, and left out of what is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracker.series.downsample import Buckets
from tracker.series.points import Points

Mask = NDArray[np.bool_]


class Replaced(NamedTuple):
    """Points from this step on count only if they are not older than this time."""

    step: float
    time: int  # microseconds since 1970


def without(points: Points, replaced: Sequence[Replaced]) -> Points:
    """Return the points that were not logged again."""
    if not replaced or not len(points):
        return points
    kept = np.ones(len(points), np.bool_)
    for step, time in replaced:
        kept &= (points.steps < step) | (points.times >= time)
    return points if kept.all() else points[kept]


def gone(chunks: Buckets, replaced: Sequence[Replaced]) -> Mask:
    """Return which buckets hold no point that still counts, as far as they show it."""
    found = np.zeros(len(chunks), np.bool_)
    for step, time in replaced:
        found |= (chunks.first_step >= step) & (chunks.last_time < time)
    return found


def touched(chunks: Buckets, replaced: Sequence[Replaced]) -> Mask:
    """Return which buckets may hold points that no longer count."""
    found = np.zeros(len(chunks), np.bool_)
    for step, time in replaced:
        found |= (chunks.last_step >= step) & (chunks.first_time < time)
    return found
