"""A line as small as a word, for tables: a path of SVG and not a figure of Plotly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 72, 20
# So that the ends of a line, and a flat one, are not cut in two.
PADDING = 1.5


def spark_path(x: NDArray[np.float64], values: NDArray[np.float64]) -> str:
    """Return the SVG path; "" for fewer than two points. Gaps stay gaps."""
    finite = np.isfinite(values) & np.isfinite(x)
    if finite.sum() <= 1:
        return ""
    left = _spread(x, finite, PADDING, WIDTH - PADDING)
    # Downwards, as a screen counts.
    top = _spread(values, finite, HEIGHT - PADDING, PADDING)
    parts = []
    is_drawing = False
    for is_there, across, down in zip(finite, left, top, strict=True):
        if is_there:
            parts.append(f"{'L' if is_drawing else 'M'}{across:.1f} {down:.1f}")
        is_drawing = bool(is_there)
    return "".join(parts)


def _spread(
    values: NDArray[np.float64], finite: NDArray[np.bool_], low: float, high: float
) -> NDArray[np.float64]:
    """Scale values to a range; equal values are centered."""
    # Halved first: the distance of the ends may be more than the largest number.
    halves = np.where(finite, values / 2, 0.0)
    first, last = halves[finite].min(), halves[finite].max()
    if not last > first:
        return np.full(len(values), (low + high) / 2)
    placed: NDArray[np.float64] = low + (halves - first) / (last - first) * (high - low)
    return placed
