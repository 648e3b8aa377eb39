"""Finds lines that almost cover others, so that only the last drawn is visible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from web.figures.series import Line

# Lines closer than this share of the higher line's maximum look the same.
TOO_NEAR = 0.02
# Share of the points that must be this close.
MOSTLY = 0.8


def lies_on(line: Line, others: Sequence[Line]) -> bool:
    """Return whether a line hides one of the lines drawn before it."""
    return any(_are_near(line, other) for other in others)


def _are_near(one: Line, other: Line) -> bool:
    _, at_one, at_other = np.intersect1d(one.x, other.x, return_indices=True)
    if len(at_one) < MOSTLY * max(1, min(len(one.x), len(other.x))):
        return False
    apart = np.abs(one.mean[at_one] - other.mean[at_other])
    both = np.maximum(np.abs(one.mean[at_one]), np.abs(other.mean[at_other]))
    largest = np.nanmax(both, initial=0.0)
    return bool(np.mean(apart <= TOO_NEAR * largest) >= MOSTLY)
