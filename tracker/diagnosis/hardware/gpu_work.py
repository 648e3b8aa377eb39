"""How hard a GPU works, as opposed to how often any kernel runs on it.

Utilization of 100 % means that some kernel always ran, even if only on one of a hundred
multiprocessors. Hardware counters report the active ones; without them, the power draw
indicates the work.
"""

from __future__ import annotations

import numpy as np

from tracker.diagnosis.analysis.statistics import percentile, typical_or_none
from tracker.diagnosis.signals import Samples

# A GPU whose busiest samples are below this is not used by the stage.
IDLE_PERCENT = 5.0

# Idle power of a card as a share of its limit, unless lower power was measured.
RESTING_SHARE = 0.15


def takes_part(utilization_percent: Samples) -> bool:
    return percentile(utilization_percent, 95) >= IDLE_PERCENT


def power_ratios(
    power_watts: Samples | None,
    power_mean_watts: Samples | None,
    power_limit_watts: Samples | None,
    power_limit_at_start_watts: float | None,
) -> Samples | None:
    """Return power between idle (0) and the limit (1); None if unknown.

    The mean from the energy counter is more precise than the sensor, which on some cards
    measures only a quarter of the time.
    """
    power = power_watts if power_mean_watts is None else power_mean_watts
    limit = typical_or_none(power_limit_watts) or power_limit_at_start_watts or 0.0
    if power is None or not len(power.values) or not limit > 0:
        return None

    resting = min(float(power.values.min()), RESTING_SHARE * limit)
    ratios = (power.values - resting) / (limit - resting)
    return Samples(power.times, np.clip(ratios, 0.0, 1.0), power.quality)


def share_below(samples: Samples, limit: float) -> float:
    """Return the share of samples below the limit."""
    return float(np.mean(samples.values < limit)) if len(samples.values) else 0.0
