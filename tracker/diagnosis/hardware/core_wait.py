"""How long steps could have run and had no core, from readings of the scheduler.

Readings are means over a tick, so a step shorter than a tick has no figure of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.analysis.outliers import Outliers
from tracker.diagnosis.signals import Array, Samples

MICROSECONDS = 1_000_000

# Of an outlier's extra time: enough to call waiting for a core its cause.
EXPLAINED_SHARE = 0.50
# A missed reading stretches the tick of the next one no further.
LONGEST_TICK = 2.0  # of the usual ticks
FEWEST_READINGS = 2


def most_waited(
    ends_seconds: Array, step_seconds: Array, *shares: Samples | None
) -> Array:
    """Return the most that each step can have waited for a core.

    All waiting in the ticks that a step touches may have been in that step.
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
    """Return step times less the usual wait for a core at that time."""
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
    """Leave out slow steps whose extra time is mostly waiting for a core."""
    is_own = waited[outliers.rows] < EXPLAINED_SHARE * outliers.excess
    return outliers.of(is_own)


def _ticks(samples: Samples | None) -> tuple[Array, Array] | None:
    """Return the edges of ticks in seconds, and the wait until each edge."""
    if samples is None or len(samples.times) < FEWEST_READINGS:
        return None
    edges = _edges(samples.times)
    lasting = np.diff(edges)
    lasting = np.minimum(lasting, LONGEST_TICK * float(np.median(lasting)))
    return edges, np.concatenate([[0.0], np.cumsum(samples.values * lasting)])


def _edges(times: NDArray[np.int64]) -> Array:
    ends = times / MICROSECONDS
    # Before the first reading there was a tick as long as the others.
    return np.concatenate([[ends[0] - float(np.median(np.diff(ends)))], ends])
