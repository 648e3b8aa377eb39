"""Finds slow ranks, how much they delay the others, and in which part of their step.

Synchronized ranks take equally long for a step, because the others wait for the slow one when
they synchronize. So this time is subtracted, and the rest is each rank's own work. It is the
time of phases named as communication; if none is named and all steps take equally long, it is
the part that varies most among those in which frameworks exchange gradients.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.signals import Array, Ranks

STEP, WAIT, OTHER = "step_seconds", "data_wait_seconds", "other"
CORE_WAIT = "core_wait_seconds"
PHASE = "phase/"

# A step of one rank longer than those of the others by this factor is an outlier.
OUTLIER_RATIO = 1.25
# Fewer outlier steps than this share are single incidents; a rank that is always slightly
# slower needs all steps.
FEWEST_OUTLIERS = 0.05
# Number of standard errors above the share that a rank has by chance.
BEYOND_CHANCE = 3.0

# Relative difference of step times between synchronized ranks.
TOGETHER = 0.05

# Ranks slower than half of all by this factor are reported together, like one machine.
SET_RATIO = 1.10
# Ratio above which a slow rank exceeds the others by more than jitter.
BEYOND_OTHERS = 1.05

# Phases in which gradients are exchanged if the script does not name communication.
MEETING_KINDS = (PhaseKind.BACKWARD, PhaseKind.OPTIMIZER)


@dataclass(frozen=True, slots=True)
class Straggler:
    """The rank that is slowest most often, or several slow ranks; means over the steps.

    `excess` is by part of the step: seconds above the median of the other ranks.
    """

    ranks: tuple[int, ...]
    step_seconds: float
    own_seconds: float
    others_seconds: float
    share: float  # extra time, share of the time of all steps
    tail_share: (
        float  # outlier steps in which it is slowest, share of all outlier steps
    )
    chance_share: float  # maximum of that share by chance
    above_share: float  # share of all steps in which it takes longer than the others
    excess: Mapping[str, float]
    met_in: str  # the part in which ranks wait for each other; "" if they do not

    @property
    def rank(self) -> int:
        return self.ranks[0]


def find_straggler(ranks: Ranks) -> Straggler | None:
    """Return None if own work and waiting of the ranks cannot be separated."""
    parts = _parts(ranks)
    steps = ranks.columns.get(STEP)
    if steps is None or not len(steps) or steps.shape[1] < 2:  # noqa: PLR2004 - ranks
        return None

    meeting = _meeting(parts, steps)
    if meeting is None:
        return None
    own = np.maximum(0.0, steps - sum((parts[name] for name in meeting), 0.0 * steps))
    # Waiting for a core is caused by other jobs. Its part of the step is unknown, so all
    # parts are scaled down equally.
    own = own * (1.0 - ranks.columns.get(CORE_WAIT, 0.0 * steps) / steps)
    slow = _slow(own)
    others = _of_others(own, slow)
    excess = np.maximum(0.0, own[:, slow].max(axis=1) - others)
    tail_share, chance = _tail(own, slow)
    total = float(steps.max(axis=1).sum())
    usual = np.median(own[:, slow], axis=1)
    return Straggler(
        ranks=tuple(
            ranks.ranks[rank] if rank < len(ranks.ranks) else rank for rank in slow
        ),
        step_seconds=total / len(steps),
        own_seconds=float(own[:, slow].mean()),
        others_seconds=float(others.mean()),
        share=float(excess.sum()) / total if total > 0 else 0.0,
        tail_share=tail_share,
        chance_share=chance,
        above_share=float(np.mean(usual > BEYOND_OTHERS * others)),
        excess={
            name: float((part[:, slow].mean(axis=1) - _of_others(part, slow)).mean())
            for name, part in parts.items()
            if name not in meeting
        },
        met_in=", ".join(name.removeprefix(PHASE) for name in meeting),
    )


def _parts(ranks: Ranks) -> dict[str, Array]:
    """Return the parts of a step that add up to it."""
    parts = {
        name: column
        for name, column in ranks.columns.items()
        if name == WAIT or name.startswith(PHASE)
    }
    steps = ranks.columns.get(STEP)
    if parts and steps is not None:
        known = sum(parts.values(), 0.0 * steps)
        parts[OTHER] = np.maximum(0.0, steps - known)
    return parts


def _meeting(parts: Mapping[str, Array], steps: Array) -> list[str] | None:
    """Return the parts in which ranks wait for each other; None if unknown."""
    named = [
        name
        for name in parts
        if kind_of_phase(name.removeprefix(PHASE)) is PhaseKind.COMMUNICATE
    ]
    if named:
        return named
    totals = steps.sum(axis=0)
    if float(np.ptp(totals)) > TOGETHER * float(totals.max()):
        # The ranks are not synchronized, so none waits.
        return []
    candidates = [
        name
        for name in parts
        if name == OTHER or kind_of_phase(name.removeprefix(PHASE)) in MEETING_KINDS
    ]
    if not candidates:
        return None
    spread = {name: float(np.ptp(parts[name].mean(axis=0))) for name in candidates}
    return [max(spread, key=spread.__getitem__)]


def _slow(own: Array) -> list[int]:
    """Return the ranks that are slow together, or the one that is slowest most often."""
    usual = np.median(own, axis=0)
    # If half of the ranks are slow, the faster half is the reference.
    typical = float(np.sort(usual)[(len(usual) - 1) // 2])
    together = np.flatnonzero(usual > SET_RATIO * typical)
    if 1 < len(together) <= len(usual) / 2:
        return [int(rank) for rank in together]
    return [_slowest(own)]


def _slowest(own: Array) -> int:
    """Return the rank that is slowest in most steps; ties by total time."""
    counts = np.bincount(own.argmax(axis=1), minlength=own.shape[1])
    most = np.flatnonzero(counts == counts.max())
    return int(most[own[:, most].sum(axis=0).argmax()])


def _of_others(column: Array, slow: list[int]) -> Array:
    median: Array = np.median(np.delete(column, slow, axis=1), axis=1)
    return median


def _tail(own: Array, slow: list[int]) -> tuple[float, float]:
    """Return the share of outlier steps in the slow ranks, and its maximum by chance."""
    count, width = own.shape
    slowest = own.argmax(axis=1)
    rows = np.arange(count)
    ordered = np.sort(own, axis=1)
    typical = np.median(ordered[:, : width - len(slow)], axis=1)
    stand_out = own[rows, slowest] > OUTLIER_RATIO * typical
    if stand_out.sum() < FEWEST_OUTLIERS * count:
        stand_out = np.ones(count, np.bool_)

    share = float(np.isin(slowest[stand_out], slow).mean())
    chance = len(slow) / width
    error = math.sqrt(chance * (1.0 - chance) / int(stand_out.sum()))
    return share, chance + BEYOND_CHANCE * error
