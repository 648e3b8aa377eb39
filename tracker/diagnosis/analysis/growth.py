"""Detects steady growth of a measurement, and when it reaches a limit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tracker.diagnosis.analysis.trend import median_slope
from tracker.diagnosis.signals import Samples

FEWEST_SECONDS = 300.0
BLOCKS = 30

# Allocations at the start are not growth.
LEFT_OUT_SHARE = 0.10

# Noise may hide growth between neighboring blocks, but a fall by this share of the total
# growth means that memory was freed.
RISING_SHARE = 0.80
LARGEST_FALL_SHARE = 0.20
# Growth that slows down does not reach a limit.
LATE_PACE_SHARE = 0.50
# Share of variance explained by a straight line; a pause or a plateau explains less.
MIN_FIT = 0.99


@dataclass(frozen=True, slots=True)
class Growth:
    seconds: float
    total: float
    per_second: float
    last: float

    def seconds_until(self, limit: float) -> float:
        return max(0.0, limit - self.last) / self.per_second


def steady_growth(
    samples: Samples, *, fewest_seconds: float = FEWEST_SECONDS, blocks: int = BLOCKS
) -> Growth | None:
    """Return the growth rate of the samples, or None if they do not grow steadily."""
    start = int(LEFT_OUT_SHARE * len(samples.values))
    seconds = (samples.times[start:] - samples.times[start : start + 1]) / 1e6
    values = samples.values[start:]
    if len(values) < blocks or seconds[-1] < fewest_seconds:
        return None

    middles = np.array([np.median(part) for part in np.array_split(seconds, blocks)])
    levels = np.array([np.median(part) for part in np.array_split(values, blocks)])
    pace = median_slope(middles, levels)
    if not pace > 0 or not _rises(levels):
        return None

    late = slice(-blocks // 3, None)
    if median_slope(middles[late], levels[late]) < LATE_PACE_SHARE * pace:
        return None
    return Growth(
        seconds=float(seconds[-1]),
        total=float(levels[-1] - levels[0]),
        per_second=pace,
        last=float(levels[-1]),
    )


def is_linear(samples: Samples, fewest: int = BLOCKS) -> bool:
    """Return whether the samples, and not too few, rise at a constant rate without a pause."""
    start = int(LEFT_OUT_SHARE * len(samples.values))
    seconds, values = samples.times[start:] / 1e6, samples.values[start:]
    if len(values) < fewest or not (np.ptp(seconds) > 0 and np.ptp(values) > 0):
        return False
    return float(np.corrcoef(seconds, values)[0, 1]) ** 2 >= MIN_FIT


def since(samples: Samples, seconds: float) -> Samples:
    """Return the samples after a time, such as the end of the first step."""
    rows = samples.times > seconds * 1e6
    return replace(samples, times=samples.times[rows], values=samples.values[rows])


def _rises(levels: np.ndarray) -> bool:
    changes = np.diff(levels)
    fall = float(np.max(np.maximum.accumulate(levels) - levels))
    return float(
        np.mean(changes >= 0)
    ) >= RISING_SHARE and fall <= LARGEST_FALL_SHARE * float(levels[-1] - levels[0])
