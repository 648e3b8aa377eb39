"""Samples from the time in which a GPU was busy; an idle card lowers its clocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tracker.diagnosis.signals import Array, Samples, Times

# Mean utilization in the time before a sample; below it the card may have been idle.
BUSY_GPU_PERCENT = 30.0
# Fewer samples may be chance.
FEWEST_BUSY_READINGS = 3
# A sample represents at most this much time before it.
LONGEST_LOOK_BACK = 10_000_000  # microseconds

NEVER_BUSY = "a GPU that is busy"


def while_busy(
    samples: Samples,
    utilization_percent: Samples,
    busy_percent: float = BUSY_GPU_PERCENT,
) -> Samples:
    """Return the samples before which the GPU was busy."""
    busy = means_before(utilization_percent, samples.times) >= busy_percent
    return replace(samples, times=samples.times[busy], values=samples.values[busy])


def means_before(samples: Samples, times: Times) -> Array:
    """Return the mean of the samples in the time before each; NaN if there are none."""
    if not len(times):
        return np.empty(0)
    starts = np.concatenate((times[:1] - LONGEST_LOOK_BACK, times[:-1]))
    starts = np.maximum(starts, times - LONGEST_LOOK_BACK)
    first = np.searchsorted(samples.times, starts, side="right")
    last = np.searchsorted(samples.times, times, side="right")

    sums = np.concatenate(([0.0], np.cumsum(samples.values)))
    counts = last - first
    means = np.full(len(times), np.nan)
    np.divide(sums[last] - sums[first], counts, out=means, where=counts > 0)
    return means
