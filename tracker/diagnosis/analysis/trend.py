"""Detects drift of step times, by blocks, so that single steps do not matter."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.signals import Array

MAX_BLOCKS = 40
FEWEST_BLOCKS = 8
FEWEST_STEPS = 20  # per block
# The missing input in the answer of a rule if there are fewer.
TOO_FEW_STEPS = f"at least {FEWEST_BLOCKS * FEWEST_STEPS} steps after warm-up"

# If one pair of neighbors has this share of the rise, it is a jump and not a drift.
JUMP_SHARE = 0.70
FEWEST_BEFORE_AND_AFTER = 2


@dataclass(frozen=True, slots=True)
class Trend:
    """`change` is the rise from the first block to the last, relative to the first.

    `chance` is the probability of such a trend if the blocks were in random order.
    """

    first: float
    start: float  # of the first block, if that is lower
    last: float
    mean: float  # of the levels of all blocks, without single slow steps
    change: float
    tau: float  # 1 if every later block is higher
    chance: float
    jump: int | None  # first step after a single jump


def trend_of(values: Array) -> Trend | None:
    """Return None if there are too few steps."""
    count = min(MAX_BLOCKS, len(values) // FEWEST_STEPS)
    if count < FEWEST_BLOCKS:
        return None

    blocks = np.array_split(values, count)
    levels = np.array([np.median(block) for block in blocks])
    jump = _jump(levels)
    if jump is None:
        slope = median_slope(np.arange(count, dtype=np.float64), levels)
        rise = slope * (count - 1)
        first = float(np.median(levels)) - rise / 2
        risen = 0.5
    else:
        first = float(np.median(levels[:jump]))
        rise = float(np.median(levels[jump:])) - first
        risen = (count - jump) / count
    if not first > 0:
        return None
    tau, chance = _kendall(levels)
    return Trend(
        first=first,
        start=min(first, float(levels[0])),
        last=first + rise,
        mean=first + risen * rise,
        change=rise / first,
        tau=tau,
        chance=chance,
        jump=None if jump is None else sum(len(block) for block in blocks[:jump]),
    )


def median_slope(x: Array, y: Array) -> float:
    """Return the median of the slopes between all pairs, which is robust to outliers."""
    first, second = np.triu_indices(len(x), k=1)
    apart = x[second] - x[first]
    slopes = (y[second] - y[first])[apart > 0] / apart[apart > 0]
    return float(np.median(slopes)) if len(slopes) else 0.0


def _kendall(levels: Array) -> tuple[float, float]:
    """Return Kendall's tau against time, and its two-sided p-value (Mann-Kendall test)."""
    count = len(levels)
    first, second = np.triu_indices(count, k=1)
    score = float(np.sign(levels[second] - levels[first]).sum())
    deviation = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    z = max(0.0, abs(score) - 1.0) / deviation
    return score / len(first), math.erfc(z / math.sqrt(2))


def _jump(levels: Array) -> int | None:
    """Return the block at which the level jumps; None if it rises gradually."""
    some = max(FEWEST_BEFORE_AND_AFTER, len(levels) // 4)
    rise = float(np.median(levels[-some:]) - np.median(levels[:some]))
    inner = np.diff(levels)[FEWEST_BEFORE_AND_AFTER - 1 : 1 - FEWEST_BEFORE_AND_AFTER]
    place = int(np.argmax(inner))
    if not rise > 0 or inner[place] < JUMP_SHARE * rise:
        return None
    return place + FEWEST_BEFORE_AND_AFTER
