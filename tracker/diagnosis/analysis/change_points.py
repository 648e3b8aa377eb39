"""Where series change their level together: the best of all ways to cut them.

Optimal partitioning (Jackson and others, 2005), which PELT (Killick and others, 2012)
makes faster by leaving out beginnings that cannot win; of so few rows as are looked at
here, all are tried. The cost of a segment is the sum of squared distances from its mean,
of all series together, and each cut costs a penalty. Single readings that stick out are
smoothed away before, since squares would follow them.
"""

from __future__ import annotations

import math

import numpy as np

from tracker.diagnosis.signals import Array

# Rows that a median is taken of, which two that stick out do not move.
SMOOTHED = 5
# Readings follow their neighbours, so that a change must be clearer than of noise that
# knows nothing of the row before; 1 is the usual criterion (BIC).
CAUTION = 3.0


def change_points(levels: Array, *, shortest: int) -> list[int]:
    """Return the rows in which a new level begins.

    `levels` are (rows, series), in units in which a change by 1 is small: as large as
    noise, or not worth a word. No segment has fewer than `shortest` rows.
    """
    rows, series = levels.shape
    if rows < 2 * shortest or not series:
        return []

    smooth = smoothed(levels)
    penalty = CAUTION * (series + 1) * math.log(rows)
    # Sums from the first row on, with 0 before it: a segment's are a difference.
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
    """Return the median of each row and its neighbours."""
    beside = SMOOTHED // 2
    padded = np.pad(levels, ((beside, beside), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, SMOOTHED, axis=0)
    return np.asarray(np.median(windows, axis=-1), np.float64)


def noise_of(values: Array) -> float:
    """Return the usual distance between neighbours, as of a normal distribution.

    Half of all neighbours may lie at a change, and it would not show.
    """
    if len(values) < 2:  # noqa: PLR2004 - neighbours
        return 0.0
    between = np.abs(np.diff(values))
    return float(np.median(between)) * 1.4826 / math.sqrt(2)
