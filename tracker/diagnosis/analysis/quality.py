"""Whether one run learned worse than another, beyond the noise of its losses.

Two questions, as a faster run can fail either: what is the loss after as many examples, and
what is it after as long? The level of a loss is the mean over the last part before the
point that both runs reached; its noise is how much the means of parts of that differ, with
the trend taken out. That is the noise within a run; another seed can differ by more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.signals import Array, EarlierRun, Times, Tracked

# The level is taken over this last part of the way, and over at least so many values.
LAST_SHARE = 0.10
FEWEST_VALUES = 8
BLOCKS = 4

# Beyond so many standard errors, and by so much of the loss, it is no noise.
BEYOND_NOISE = 3.0
NOTABLE_SHARE = 0.02

# Runs of which one saw little of what the other did cannot be compared there.
FEWEST_IN_COMMON = 0.20

HELD_OUT = re.compile(r"(^|[/_.-])(val|valid|validation|eval|test|dev)([/_.-]|$)", re.I)
MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A loss over the way: by examples that were seen, and by seconds that passed."""

    losses: Array
    examples: Array
    seconds: Array


@dataclass(frozen=True, slots=True)
class Level:
    """Two losses at one point of the way, and the standard error of their difference."""

    at: float
    before: float
    after: float
    noise: float

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
        """Return the least change that is more than noise."""
        # Losses may be negative, or 0: then the noise alone decides.
        return max(BEYOND_NOISE * self.noise, NOTABLE_SHARE * abs(self.before))


@dataclass(frozen=True, slots=True)
class QualityChange:
    """A loss of two runs; None where they have no such point in common."""

    path: str
    at_equal_examples: Level | None
    at_equal_time: Level | None

    @property
    def is_worse(self) -> bool:
        """Worse by time, so that being faster did not help, or not known by time."""
        levels = [
            level for level in (self.at_equal_time, self.at_equal_examples) if level
        ]
        return bool(levels) and levels[0].is_worse

    @property
    def costs_examples(self) -> bool:
        """Worse after as many examples: each teaches less than before."""
        level = self.at_equal_examples
        return level is not None and level.is_worse


def common_loss(one: Collection[str], other: Collection[str]) -> str | None:
    """Return the loss to compare: of data that was held out, if both have one."""
    both = set(one) & set(other)
    return min(both, key=lambda p: (not HELD_OUT.search(p), len(p), p), default=None)


def curve_of(loss: Tracked, step_times: Times, step_examples: Array) -> Curve | None:
    """Lay a loss over the steps of its run; None where it has too few values."""
    if not len(step_times) or len(step_times) != len(step_examples):
        return None
    order = np.argsort(loss.times, kind="stable")
    times, values = loss.times[order], loss.values[order]
    good = np.isfinite(values)
    times, values = times[good], values[good]
    if len(values) < FEWEST_VALUES:
        return None
    seen = np.concatenate([[0.0], np.cumsum(step_examples)])
    return Curve(
        values,
        seen[np.searchsorted(step_times, times, side="right")],
        (times - step_times[0]) / MICROSECONDS,
    )


def compare_quality(path: str, before: Curve, after: Curve) -> QualityChange:
    return QualityChange(
        path,
        _level(before.examples, before.losses, after.examples, after.losses),
        _level(before.seconds, before.losses, after.seconds, after.losses),
    )


def compare_learning(before: EarlierRun, after: EarlierRun) -> QualityChange | None:
    """Compare the loss that two runs have in common; None where they have none."""
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
    way: Array, losses: Array, other_way: Array, other_losses: Array
) -> Level | None:
    """Compare where the shorter of both ways ends."""
    ends = float(way.max()), float(other_way.max())
    at = min(ends)
    if not at > 0 or at < FEWEST_IN_COMMON * max(ends):
        return None
    before, after = _last(way, losses, at), _last(other_way, other_losses, at)
    if before is None or after is None:
        return None
    return Level(at, before[0], after[0], math.hypot(before[1], after[1]))


def _last(way: Array, losses: Array, at: float) -> tuple[float, float] | None:
    """Return the level and its standard error just before a point of the way."""
    until = losses[way <= at]
    recent = int(((way <= at) & (way > (1.0 - LAST_SHARE) * at)).sum())
    count = max(recent, FEWEST_VALUES)
    if len(until) < FEWEST_VALUES:
        return None
    values = until[-count:]
    places = np.arange(len(values)) - (len(values) - 1) / 2
    slope = float(places @ values) / float(places @ places)
    means = [part.mean() for part in np.array_split(values - slope * places, BLOCKS)]
    return float(values.mean()), float(np.std(means, ddof=1)) / math.sqrt(BLOCKS)
