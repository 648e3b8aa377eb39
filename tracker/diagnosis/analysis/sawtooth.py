"""Memory that repeatedly rises and falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.signals import Array, Samples

# Shares of the height: above the first, memory is taken; below the second, freed.
TAKEN, GIVEN_BACK = 0.75, 0.25


@dataclass(frozen=True, slots=True)
class Sawtooth:
    height: float  # memory taken each time
    rises: int


def find_sawtooth(samples: Samples) -> Sawtooth:
    """Count how often the samples rise from their low end to their high end."""
    values = samples.values
    if not len(values):
        return Sawtooth(0.0, 0)
    low, high = (float(value) for value in np.percentile(values, (5, 95)))
    height = high - low
    if not height > 0:
        return Sawtooth(0.0, 0)
    return Sawtooth(height, _rises(values, low + GIVEN_BACK * height, height, low))


def _rises(values: Array, lower: float, height: float, low: float) -> int:
    # Values in between keep the previous state, so small waves do not count.
    states = np.where(
        values >= low + TAKEN * height, 1, np.where(values <= lower, 0, -1)
    )
    known = states[states >= 0]
    return int((np.diff(known) == 1).sum())
