"""Leaves out readings of long series, so that what is left says the same of them.

Of a stretch of readings every so many-th stays, which keeps shares, means and
percentiles; and its lowest and highest, its first and last, and those around pauses,
so that peaks, counters and holes are what they were.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.measurements import MICROSECONDS
from tracker.series.points import Integers, Points

# Readings that a series keeps, about. Of a day that is one in twenty seconds, and of a
# fifth of it enough for a share to be known to a percent.
MOST_READINGS = 4_096
# A pause is longer than so many of the usual intervals.
PAUSE_INTERVALS = 5.0


def stride_of(count: int, most: int = MOST_READINGS) -> int:
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
