"""Leaves out points of long series, so that what is left says the same of them.

Of a stretch of readings every so many-th stays, which keeps shares, means and
percentiles; and its lowest and highest, its first and last, and those around pauses,
so that peaks, counters and holes are what they were. Of curves, as losses are, levels
and noise count; of steps of several ranks, that the same ones stay of each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.engine.measurements import MICROSECONDS
from tracker.series.points import Floats, Integers, Points

# Readings that a series keeps, about. Of a day that is one in twenty seconds, and of a
# fifth of it enough for a share to be known to a percent.
MAX_READINGS = 4_096
# Points that a curve keeps, about: the last tenth of it still is thousands.
MAX_CURVE_POINTS = 65_536
# Points that all series of ranks keep together, about: of 64 ranks, thousands of steps.
MAX_RANK_POINTS = 2_000_000
# So many points at the end of each stretch stay: rules ask for that many in a row.
LAST_POINTS = 3
# A pause is longer than so many of the usual intervals.
PAUSE_INTERVALS = 5.0


def stride_of(count: int, most: int = MAX_READINGS) -> int:
    """Return which readings to keep of so many: every one, every second, …"""
    return max(1, -(-count // most))


class Thinner:
    """Thins series, of which many share their times: what follows from those is kept."""

    def __init__(self, *, whole_after: int | None = None) -> None:
        self._whole_after = whole_after
        self._kept: tuple[Integers, int, NDArray[np.bool_]] | None = None

    def thin(self, points: Points, stride: int) -> Points:
        """Keep one of `stride` points, and all after a time; `points` are in order."""
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
    """Keep one of `stride` points, and where it ends to be a number; in order of step.

    Neither the highest nor the lowest stays, which would shift means; unless all that
    is left is alike, as it is of a curve that does not change.
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
    """Keeps the same steps of all series, by chance: ranks are compared step by step."""

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
    """Return a number for each step that has nothing to do with its neighbours'.

    Of every so many-th step, what happens each hundred steps would be there always or
    never.
    """
    # The end of splitmix64; + 0.0 makes -0.0 0.0.
    mixed = (steps + 0.0).view(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    found: NDArray[np.uint64] = mixed >> np.uint64(32)
    return found


def usual_interval(times: Integers) -> float | None:
    """Return the median of the seconds between readings; None without any."""
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
