"""How long steps were runnable without a core, from samples of the scheduler.

Samples are means over a sampling interval, so shorter steps have no value of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.analysis.outliers import Outliers
from tracker.diagnosis.signals import Array, Samples

MICROSECONDS = 1_000_000

# Share of an outlier's extra time at which waiting for a core is its cause.
EXPLAINED_SHARE = 0.50
# A missed sample extends the interval of the next one at most to this.
LONGEST_TICK = 2.0  # in median intervals
FEWEST_READINGS = 2


def most_waited(
    ends_seconds: Array, step_seconds: Array, *shares: Samples | None
) -> Array:
    """Return the maximum time that each step can have waited for a core.

    All waiting in the sampling intervals that a step overlaps may belong to that step.
    """
    found = np.zeros(len(step_seconds))
    for samples in shares:
        ticks = _ticks(samples)
        if ticks is None:
            continue
        edges, total = ticks
        first = np.searchsorted(edges, ends_seconds - step_seconds, side="right") - 1
        last = np.searchsorted(edges, ends_seconds, side="left")
        first, last = (np.clip(each, 0, len(edges) - 1) for each in (first, last))
        found = np.maximum(found, total[last] - total[first])
    return np.minimum(found, step_seconds)


def without_core_waits(
    step_seconds: Array, ends_seconds: Array, *shares: Samples | None
) -> Array:
    """Return step times minus the mean wait for a core at that time."""
    waited = np.zeros(len(step_seconds))
    for samples in shares:
        ticks = _ticks(samples)
        if ticks is None:
            continue
        edges, total = ticks
        ends = np.searchsorted(edges, ends_seconds, side="left")
        ends = np.clip(ends, 1, len(edges) - 1)
        share = (total[ends] - total[ends - 1]) / (edges[ends] - edges[ends - 1])
        waited = np.maximum(waited, np.clip(share, 0.0, 1.0) * step_seconds)
    return step_seconds - waited


def without_waiting_steps(outliers: Outliers, waited: Array) -> Outliers:
    """Exclude slow steps whose extra time is mostly waiting for a core."""
    is_own = waited[outliers.rows] < EXPLAINED_SHARE * outliers.excess
    return outliers.of(is_own)


def _ticks(samples: Samples | None) -> tuple[Array, Array] | None:
    """Return the edges of sampling intervals in seconds, and the total wait until each."""
    if samples is None or len(samples.times) < FEWEST_READINGS:
        return None
    edges = _edges(samples.times)
    lasting = np.diff(edges)
    lasting = np.minimum(lasting, LONGEST_TICK * float(np.median(lasting)))
    return edges, np.concatenate([[0.0], np.cumsum(samples.values * lasting)])


def _edges(times: NDArray[np.int64]) -> Array:
    ends = times / MICROSECONDS
    # The interval before the first sample is assumed to have the median length.
    return np.concatenate([[ends[0] - float(np.median(np.diff(ends)))], ends])
