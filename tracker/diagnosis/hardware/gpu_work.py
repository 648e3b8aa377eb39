"""How hard a GPU works, as opposed to how often anything runs on it.

Utilization of 100 % says that some kernel ran all the time, were it on one processor
of a hundred. Hardware counters tell how many worked; where a card has none, its power
tells: what works draws.
"""

from __future__ import annotations

import numpy as np

from tracker.diagnosis.analysis.statistics import percentile, typical_or_none
from tracker.diagnosis.signals import Samples

# A GPU whose busiest readings are below takes no part in the stage.
IDLE_PERCENT = 5.0

# What a card draws at rest, of its limit. Cards that are seen to draw less set it.
RESTING_SHARE = 0.15


def takes_part(utilization_percent: Samples) -> bool:
    return percentile(utilization_percent, 95) >= IDLE_PERCENT


def power_ratios(
    power_watts: Samples | None,
    power_mean_watts: Samples | None,
    power_limit_watts: Samples | None,
    power_limit_at_start_watts: float | None,
) -> Samples | None:
    """Return power between rest (0) and the limit (1); None where it is not known.

    The mean by the card's counter of energy is better than the sensor, which on some
    cards looks at a quarter of the time only.
    """
    power = power_watts if power_mean_watts is None else power_mean_watts
    limit = typical_or_none(power_limit_watts) or power_limit_at_start_watts or 0.0
    if power is None or not len(power.values) or not limit > 0:
        return None

    resting = min(float(power.values.min()), RESTING_SHARE * limit)
    ratios = (power.values - resting) / (limit - resting)
    return Samples(power.times, np.clip(ratios, 0.0, 1.0), power.quality)


def share_below(samples: Samples, limit: float) -> float:
    """Return the share of readings below the limit."""
    return float(np.mean(samples.values < limit)) if len(samples.values) else 0.0
