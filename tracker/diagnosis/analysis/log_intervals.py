"""Step times of scripts without step timing, from the points that they log (pure)."""

from __future__ import annotations

import numpy as np

from tracker.diagnosis.engine.measurements import MICROSECONDS, Steps
from tracker.diagnosis.signals import Array, Times

MIN_POINTS = 30
# Points that were logged together afterwards have no intervals.
MIN_SECONDS = 0.001
# An interval spans at least so many units of the clock.
MIN_CLOCK_UNITS = 20
CLOCK_UNITS = (MICROSECONDS, 1_000)  # in microseconds
# Share of the points, or of the intervals, that follow the pattern.
USUAL_SHARE = 0.9


def steps_of_log(numbers: Array, times: Times) -> tuple[Steps, int]:
    """Return a row for each interval between points, and its length in steps.

    `numbers` are the steps of the points, `times` are microseconds since 1970. Intervals
    of unusual length in steps are dropped, such as those around a restart. Without a
    usable pattern there are no rows.
    """
    good = np.isfinite(numbers)
    numbers, times = numbers[good], times[good]
    order = np.argsort(times, kind="stable")
    numbers, times = numbers[order], times[order]
    if len(numbers) < MIN_POINTS:
        return Steps.none(), 0

    lengths, seconds = np.diff(numbers), np.diff(times) / MICROSECONDS
    usual = float(np.median(lengths))
    regular = (lengths == usual) & (seconds > 0)
    if usual < 1 or regular.mean() < USUAL_SHARE:
        return Steps.none(), 0
    if float(np.median(seconds)) < max(MIN_SECONDS, MIN_CLOCK_UNITS * _clock(times)):
        return Steps.none(), 0
    rows = np.flatnonzero(regular) + 1
    columns = {"step_seconds": seconds[rows - 1]}
    return Steps(numbers[rows], times[rows], columns), round(usual)


def _clock(times: Times) -> float:
    """Return the resolution of the times in seconds; 0 for microseconds."""
    for unit in CLOCK_UNITS:
        if float(np.mean(times % unit == 0)) >= USUAL_SHARE:
            return unit / MICROSECONDS
    return 0.0
