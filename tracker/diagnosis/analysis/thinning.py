"""Thins long series without changing the conclusions from them.

Regular samples of a series remain, which preserves shares, means and percentiles; also its
minimum and maximum, its first and last point, and points around pauses, which preserves peaks,
counters and gaps. For curves such as losses, level and noise matter; for steps of several
ranks, the same steps of each rank must remain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.engine.measurements import MICROSECONDS
from tracker.series.points import Floats, Integers, Points

# Approximate number of samples per series. For a day that is one in twenty seconds, and a
# fifth of the day still gives a share within one percent.
MAX_READINGS = 4_096
# Approximate number of points per curve: its last tenth still has thousands.
MAX_CURVE_POINTS = 65_536
# Approximate number of points of all series of all ranks: thousands of steps for 64 ranks.
MAX_RANK_POINTS = 2_000_000
# Number of points at the end of each series that remain, because rules need them.
LAST_POINTS = 3
# A pause is longer than this many median intervals.
PAUSE_INTERVALS = 5.0


def stride_of(count: int, most: int = MAX_READINGS) -> int:
    """Return the stride to keep at most about `most` of `count` samples."""
    return max(1, -(-count // most))


class Thinner:
    """Thins series; the selection is cached, because many series share their times."""

    def __init__(self, *, whole_after: int | None = None) -> None:
        self._whole_after = whole_after
        self._kept: tuple[Integers, int, NDArray[np.bool_]] | None = None

    def thin(self, points: Points, stride: int) -> Points:
        """Keep one of `stride` points, and all after a time; `points` are ordered by time."""
        if stride <= 1 or not len(points):
            return points
        kept = self._by_times(points.times, stride).copy()
        values = points.values
        finite = np.isfinite(values)
        if finite.all():
            kept[values.argmin()] = kept[values.argmax()] = True
        elif finite.any():
            kept[np.where(finite, values, np.inf).argmin()] = True
            kept[np.where(finite, values, -np.inf).argmax()] = True
        return points[kept]

    def _by_times(self, times: Integers, stride: int) -> NDArray[np.bool_]:
        known = self._kept
        if known is not None and known[0] is times and known[1] == stride:
            return known[2]
        kept = _around_pauses(times)
        kept[::stride] = True
        kept[-1] = True
        if self._whole_after is not None:
            kept |= times > self._whole_after
        self._kept = times, stride, kept
        return kept


def thin_curve(points: Points, stride: int) -> Points:
    """Keep one of `stride` points, and the place where the values stop being numbers.

    `points` are ordered by step. Minimum and maximum are not kept, because they would shift
    means, unless all remaining values are equal, as for a mostly constant curve.
    """
    if stride <= 1 or not len(points):
        return points
    kept = np.zeros(len(points), np.bool_)
    kept[::stride] = kept[-LAST_POINTS:] = True
    values, is_number = points.values, np.isfinite(points.values)
    changes = np.flatnonzero(is_number[1:] != is_number[:-1])
    if len(changes):
        kept[changes[-1] : changes[-1] + 2] = True
    numbers = values[kept & is_number]
    if is_number.any() and (not len(numbers) or numbers.min() == numbers.max()):
        kept[np.where(is_number, values, np.inf).argmin()] = True
        kept[np.where(is_number, values, -np.inf).argmax()] = True
    return points[kept]


class StepSample:
    """Keeps the same random steps of all series, because ranks are compared by step."""

    def __init__(self, *, whole_after: int | None = None) -> None:
        self._whole_after = whole_after

    def thin(self, points: Points, stride: int) -> Points:
        """Keep one of `stride` steps, and all points after a time."""
        if stride <= 1 or not len(points):
            return points
        kept = _by_chance(points.steps) % np.uint64(stride) == 0
        if self._whole_after is not None:
            kept |= points.times > self._whole_after
        return points[kept]


def _by_chance(steps: Floats) -> NDArray[np.uint64]:
    """Return a hash of each step that is independent of its neighbors.

    With a fixed stride, events every hundred steps would always or never be included.
    """
    # The finalizer of splitmix64; + 0.0 turns -0.0 into 0.0.
    mixed = (steps + 0.0).view(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    found: NDArray[np.uint64] = mixed >> np.uint64(32)
    return found


def usual_interval(times: Integers) -> float | None:
    """Return the median of the seconds between samples; None without any."""
    if len(times) < 2:  # noqa: PLR2004 - two have something between them
        return None
    return float(np.median(np.abs(np.diff(times)))) / MICROSECONDS


def _around_pauses(times: Integers) -> NDArray[np.bool_]:
    around = np.zeros(len(times), np.bool_)
    interval = usual_interval(times)
    if interval:
        pauses = np.abs(np.diff(times)) > PAUSE_INTERVALS * interval * MICROSECONDS
        around[:-1] |= pauses
        around[1:] |= pauses
    return around
