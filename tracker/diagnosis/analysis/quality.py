"""Decides whether one run learned worse than another, beyond the noise of its losses.

Losses are compared after equally many examples and after equal time, because a faster run can
be worse in either. The level is the mean over the last part before the point that both runs
reached; its noise is the spread of block means, without the trend. This is the noise within a
run; another seed can differ by more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from tracker.diagnosis.signals import Array, EarlierRun, Times, Tracked

# The level is the mean over this last part of the axis, and at least this many values.
LAST_SHARE = 0.10
FEWEST_VALUES = 8
BLOCKS = 4

# A change above this many standard errors and this share of the loss is significant.
BEYOND_NOISE = 3.0
NOTABLE_SHARE = 0.02

# The shorter run must cover this share of the longer one.
FEWEST_IN_COMMON = 0.20

HELD_OUT = re.compile(r"(^|[/_.-])(val|valid|validation|eval|test|dev)([/_.-]|$)", re.I)
MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A loss over two axes: processed examples and elapsed seconds."""

    losses: Array
    examples: Array
    seconds: Array


@dataclass(frozen=True, slots=True)
class Level:
    """Two losses at one point of an axis, and the standard error of their difference."""

    at: float
    before: float
    after: float
    noise: float
    beyond_noise: float = BEYOND_NOISE
    notable_share: float = NOTABLE_SHARE

    @property
    def change(self) -> float:
        return self.after - self.before

    @property
    def is_worse(self) -> bool:
        return self.change > self.margin

    @property
    def is_better(self) -> bool:
        return -self.change > self.margin

    @property
    def margin(self) -> float:
        """Return the smallest change that exceeds the noise."""
        # abs() because losses may be negative; for a loss of 0, only the noise counts.
        return max(
            self.beyond_noise * self.noise, self.notable_share * abs(self.before)
        )


@dataclass(frozen=True, slots=True)
class QualityChange:
    """The change of a loss between two runs; None for an axis without a common point."""

    path: str
    at_equal_examples: Level | None
    at_equal_time: Level | None

    @property
    def is_worse(self) -> bool:
        """Return whether the loss is worse at equal time, or else at equal examples."""
        levels = [
            level for level in (self.at_equal_time, self.at_equal_examples) if level
        ]
        return bool(levels) and levels[0].is_worse

    @property
    def costs_examples(self) -> bool:
        """Return whether the loss is worse after equally many examples."""
        level = self.at_equal_examples
        return level is not None and level.is_worse


def common_loss(one: Collection[str], other: Collection[str]) -> str | None:
    """Return the loss to compare: a validation loss if both runs have one."""
    both = set(one) & set(other)
    return min(both, key=lambda p: (not HELD_OUT.search(p), len(p), p), default=None)


def curve_of(
    loss: Tracked,
    step_times: Times,
    step_examples: Array,
    *,
    fewest_values: int = FEWEST_VALUES,
) -> Curve | None:
    """Map a loss to the steps of its run; None if it has too few values."""
    if not len(step_times) or len(step_times) != len(step_examples):
        return None
    order = np.argsort(loss.times, kind="stable")
    times, values = loss.times[order], loss.values[order]
    good = np.isfinite(values)
    times, values = times[good], values[good]
    if len(values) < fewest_values:
        return None
    seen = np.concatenate([[0.0], np.cumsum(step_examples)])
    return Curve(
        values,
        seen[np.searchsorted(step_times, times, side="right")],
        (times - step_times[0]) / MICROSECONDS,
    )


def compare_quality(
    path: str,
    before: Curve,
    after: Curve,
    *,
    fewest_values: int = FEWEST_VALUES,
    beyond_noise: float = BEYOND_NOISE,
    notable_share: float = NOTABLE_SHARE,
) -> QualityChange:
    def level(way: Array, other_way: Array) -> Level | None:
        found = _level(way, before.losses, other_way, after.losses, fewest_values)
        if found is None:
            return None
        return replace(found, beyond_noise=beyond_noise, notable_share=notable_share)

    return QualityChange(
        path,
        level(before.examples, after.examples),
        level(before.seconds, after.seconds),
    )


def compare_learning(before: EarlierRun, after: EarlierRun) -> QualityChange | None:
    """Compare a loss that both runs have; None if there is none."""
    path = common_loss(before.losses, after.losses)
    if path is None:
        return None
    curves = [
        curve_of(run.losses[path], run.step_times, run.step_examples)
        for run in (before, after)
    ]
    if curves[0] is None or curves[1] is None:
        return None
    return compare_quality(path, curves[0], curves[1])


def _level(
    way: Array,
    losses: Array,
    other_way: Array,
    other_losses: Array,
    fewest_values: int,
) -> Level | None:
    """Compare both losses at the end of the shorter run."""
    ends = float(way.max()), float(other_way.max())
    at = min(ends)
    if not at > 0 or at < FEWEST_IN_COMMON * max(ends):
        return None
    before = _last(way, losses, at, fewest_values)
    after = _last(other_way, other_losses, at, fewest_values)
    if before is None or after is None:
        return None
    return Level(at, before[0], after[0], math.hypot(before[1], after[1]))


def _last(
    way: Array, losses: Array, at: float, fewest_values: int
) -> tuple[float, float] | None:
    """Return the level and its standard error just before a point of the axis."""
    until = losses[way <= at]
    recent = int(((way <= at) & (way > (1.0 - LAST_SHARE) * at)).sum())
    count = max(recent, fewest_values)
    if len(until) < fewest_values:
        return None
    values = until[-count:]
    places = np.arange(len(values)) - (len(values) - 1) / 2
    slope = float(places @ values) / float(places @ places)
    means = [part.mean() for part in np.array_split(values - slope * places, BLOCKS)]
    return float(values.mean()), float(np.std(means, ddof=1)) / math.sqrt(BLOCKS)
