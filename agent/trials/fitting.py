"""Extrapolates from a few batch sizes with straight lines (pure)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# The share of the device's memory that a batch may fill.
SAFE_SHARE = 0.90
# Limit of extrapolation, as a multiple of the largest size tried.
LARGEST_FACTOR = 64
_FEWEST_PLACES = 2


@dataclass(frozen=True)
class Line:
    """`base + slope * x`."""

    base: float
    slope: float

    def at(self, x: float) -> float:
        return self.base + self.slope * x


def fit_line(points: Sequence[tuple[float, float]]) -> Line | None:
    """Return the least-squares line; None for fewer than two different x."""
    count = len(points)
    if len({x for x, _ in points}) < _FEWEST_PLACES:
        return None
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    together = sum((x - mean_x) * (y - mean_y) for x, y in points)
    slope = together / spread
    return Line(mean_y - slope * mean_x, slope)


def largest_batch(
    memory: Line | None,
    capacity_bytes: float | None,
    *,
    tried: int,
    failed: int | None = None,
) -> int | None:
    """Return the largest batch that fits; None if unknown.

    It is at least `tried`, and less than `failed`.
    """
    if memory is None or capacity_bytes is None or not memory.slope > 0:
        return tried if failed is not None else None
    fits = math.floor((SAFE_SHARE * capacity_bytes - memory.base) / memory.slope)
    fits = max(tried, min(fits, LARGEST_FACTOR * tried))
    return fits if failed is None else min(fits, failed - 1)
