"""How long a GPU's clocks were limited, for which reason, and the cost of it.

A limit is a share of the time before each sample. Driver counters give it exactly;
without them a flag shows the current state only, and a single flag is no evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import average
from tracker.diagnosis.engine.finding import MEASURED, Gain
from tracker.diagnosis.engine.speedup import usual_gain
from tracker.diagnosis.engine.wording import percent
from tracker.diagnosis.hardware.busy import (
    FEWEST_BUSY_READINGS,
    means_before,
    while_busy,
)
from tracker.diagnosis.signals import Samples

FEWEST_FLAGS = 2
LARGEST_SHARE = 0.99


@dataclass(frozen=True, slots=True)
class Limited:
    """`share` is relative to the time in which the GPU was busy; 0 to 1."""

    share: float
    readings: int  # while busy
    raised: int  # samples above 0
    quality: float

    @property
    def is_counted(self) -> bool:
        return self.quality >= MEASURED

    @property
    def is_chance(self) -> bool:
        """Return whether too few samples show it to be significant."""
        return not self.is_counted and self.raised < FEWEST_FLAGS


def measure_limit(
    utilization_percent: Samples, *limits: Samples | None
) -> Limited | None:
    """Return the share of its busy time in which any of these limited the GPU.

    None if the GPU was hardly ever busy, or if no limit was measured.
    """
    known = [while_busy(limit, utilization_percent) for limit in limits if limit]
    known = [limit for limit in known if len(limit.values) >= FEWEST_BUSY_READINGS]
    if not known:
        return None
    share = sum(average(limit.values) for limit in known)
    return Limited(
        share=min(1.0, max(0.0, share)),
        readings=max(len(limit.values) for limit in known),
        raised=max(int(np.sum(limit.values > 0)) for limit in known),
        quality=min(limit.quality for limit in known),
    )


def clock_while_busy(
    sm_clock_mhz: Samples | None, utilization_percent: Samples
) -> float | None:
    if sm_clock_mhz is None:
        return None
    busy = while_busy(sm_clock_mhz, utilization_percent)
    if len(busy.values) < FEWEST_BUSY_READINGS:
        return None
    return float(np.median(busy.values))


def clock_while_limited(
    sm_clock_mhz: Samples | None, utilization_percent: Samples, limit: Samples
) -> float | None:
    """Return the mean clock in the busy time with this limit."""
    if sm_clock_mhz is None:
        return None
    limited = while_busy(limit, utilization_percent)
    clocks = means_before(sm_clock_mhz, limited.times)
    known = np.isfinite(clocks) & (limited.values > 0)
    weights = limited.values[known]
    if not weights.sum() > 0:
        return None
    return float((clocks[known] * weights).sum() / weights.sum())


def clock_gain(
    utilization_percent: Samples,
    *,
    clock_mhz: float | None,
    full_mhz: float | None,
    limited_share: float = 1.0,
) -> Gain | None:
    """Return the gain of full clocks; None if the clocks are unknown."""
    if clock_mhz is None or full_mhz is None or not 0 < clock_mhz < full_mhz:
        return None
    busy = min(1.0, max(0.0, average(utilization_percent.values) / 100))
    lost = min(LARGEST_SHARE, busy * limited_share * (1.0 - clock_mhz / full_mhz))
    if not lost > 0:
        return None
    during = "" if limited_share >= 1 else f", {percent(limited_share)} of it limited"
    return usual_gain(
        lost,
        f"The GPU works {percent(busy)} of the time{during}, at"
        f" {clock_mhz:.0f} MHz of {full_mhz:.0f}. Work limited by memory"
        " or by power gains less than its clock.",
    )
