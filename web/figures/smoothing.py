"""Evens out a line for the eye; the line itself stays on the chart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_SMOOTHING = 0.99


def smoothed(values: Floats, weight: float) -> Floats:
    """Return the exponential mean, unbiased at its start; gaps stay gaps.

    `weight`, from 0 to below 1, is the share of the previous mean.
    """
    mean = np.full(len(values), np.nan)
    total = share = 0.0
    for index, value in enumerate(values.tolist()):
        if not np.isfinite(value):
            continue
        total = weight * total + (1 - weight) * value
        share = weight * share + (1 - weight)
        mean[index] = total / share
    return mean
