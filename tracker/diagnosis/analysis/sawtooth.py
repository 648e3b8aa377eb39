"""Memory that is taken and given back, again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.signals import Array, Samples

# Of the height: above the one it is taken, below the other given back.
TAKEN, GIVEN_BACK = 0.75, 0.25


@dataclass(frozen=True, slots=True)
class Sawtooth:
    height: float  # what is taken each time
    rises: int


def find_sawtooth(samples: Samples) -> Sawtooth:
    """Count how often the readings rise from their low end to their high end."""
    values = samples.values
    if not len(values):
        return Sawtooth(0.0, 0)
    low, high = (float(value) for value in np.percentile(values, (5, 95)))
    height = high - low
    if not height > 0:
        return Sawtooth(0.0, 0)
    return Sawtooth(height, _rises(values, low + GIVEN_BACK * height, height, low))


def _rises(values: Array, lower: float, height: float, low: float) -> int:
    # What lies between counts as what it was before: small waves are no rises.
    states = np.where(
        values >= low + TAKEN * height, 1, np.where(values <= lower, 0, -1)
    )
    known = states[states >= 0]
    return int((np.diff(known) == 1).sum())
