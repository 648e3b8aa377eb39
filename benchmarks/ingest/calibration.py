"""Chooses the amount to log: slow systems end in time, fast ones exceed noise (pure)."""

from __future__ import annotations

# A short trial predicts a long one poorly, so growth is limited.
LARGEST_GROWTH = 8.0
# Sufficient share of the target time.
ENOUGH = 0.5
AIM = 0.8


def next_blocks(
    blocks: int, seconds: float, wanted_seconds: float, most: int
) -> int | None:
    """Return how many blocks to log next, or None when the last try was long enough."""
    if blocks >= most or seconds >= ENOUGH * wanted_seconds:
        return None
    growth = min(LARGEST_GROWTH, AIM * wanted_seconds / max(seconds, 1e-6))
    return min(most, max(blocks + 1, int(blocks * growth)))
