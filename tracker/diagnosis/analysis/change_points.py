"""Finds the points at which several series change their level together.

Optimal partitioning (Jackson et al., 2005), the exact method that PELT (Killick et al.,
2012) accelerates by pruning; with so few rows, all candidates are tried. The cost of a
segment is the sum of squared distances from its mean over all series, and each cut has a
penalty. Single outliers are smoothed first, because they dominate squared distances.
"""

from __future__ import annotations

import math

import numpy as np

from tracker.diagnosis.signals import Array

# Window of the running median; two outliers in it have no effect.
SMOOTHED = 5
# Neighboring samples correlate, so the penalty is higher than for independent noise; 1
# is the usual criterion (BIC).
CAUTION = 3.0


def change_points(levels: Array, *, shortest: int) -> list[int]:
    """Return the rows in which a new level begins.

    `levels` has shape (rows, series), scaled so that a change of 1 is small: the size of
    the noise or an irrelevant change. No segment has fewer than `shortest` rows.
    """
    rows, series = levels.shape
    if rows < 2 * shortest or not series:
        return []

    smooth = smoothed(levels)
    penalty = CAUTION * (series + 1) * math.log(rows)
    # Prefix sums that start with 0, so that a segment's sum is a difference.
    zero = np.zeros((1, series))
    sums = np.concatenate([zero, np.cumsum(smooth, axis=0)])
    squares = np.append(0.0, np.cumsum(np.sum(smooth**2, axis=1)))

    best = np.full(rows + 1, np.inf)
    best[0] = -penalty
    last_cut = np.zeros(rows + 1, np.int64)
    for end in range(shortest, rows + 1):
        starts = np.arange(end - shortest + 1)
        total = sums[end] - sums[starts]
        spread = squares[end] - squares[starts]
        spread -= np.sum(total**2, axis=1) / (end - starts)
        costs = best[starts] + spread + penalty
        last_cut[end] = int(np.argmin(costs))
        best[end] = costs[last_cut[end]]

    cuts: list[int] = []
    cut = int(last_cut[rows])
    while cut > 0:
        cuts.append(cut)
        cut = int(last_cut[cut])
    return cuts[::-1]


def smoothed(levels: Array) -> Array:
    """Return the median of each row and its neighbors."""
    beside = SMOOTHED // 2
    padded = np.pad(levels, ((beside, beside), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, SMOOTHED, axis=0)
    return np.asarray(np.median(windows, axis=-1), np.float64)


def noise_of(values: Array) -> float:
    """Return the standard deviation, estimated from the differences of neighbors.

    Level changes do not affect it while fewer than half of the differences are changes.
    """
    if len(values) < 2:  # noqa: PLR2004 - neighbors
        return 0.0
    between = np.abs(np.diff(values))
    return float(np.median(between)) * 1.4826 / math.sqrt(2)
