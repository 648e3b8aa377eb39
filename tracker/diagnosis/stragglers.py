"""Which rank makes the others wait, by how much, and in which part of its step.

Ranks that work together take equally long for a step, whoever is slow: the others wait
for the slow one where they meet. So the time of meeting is taken off, and what remains is
each rank's own work. The place where they meet is the phases that are named as
communication; where none is named and all steps take equally long, it is the part that
differs most of those in which frameworks exchange gradients.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.signals import Array, Ranks

STEP, WAIT, OTHER = "step_seconds", "data_wait_seconds", "other"
PHASE = "phase/"

# A step of one rank that is so much longer than those of the others stands out.
OUTLIER_RATIO = 1.25
# Fewer than this part of the steps that stand out are single incidents, which say
# nothing of a rank that is always a little slower.
FEWEST_OUTLIERS = 0.05
# Chance gives each rank its share; so many standard errors above is no chance.
BEYOND_CHANCE = 3.0

# Steps of ranks that meet in every step take equally long, within this.
TOGETHER = 0.05

# Where gradients are exchanged if the script does not say.
MEETING_KINDS = (PhaseKind.BACKWARD, PhaseKind.OPTIMIZER)


@dataclass(frozen=True, slots=True)
class Straggler:
    """The rank that is slowest most often; means over the steps.

    `excess` is by part of the step: seconds more than the other ranks' median.
    """

    rank: int
    step_seconds: float
    own_seconds: float
    others_seconds: float
    share: float  # of the time of all steps: what it takes longer than the others
    tail_share: float  # of the steps that stand out: those in which it was slowest
    chance_share: float  # what it would have by chance, at the most
    excess: Mapping[str, float]
    met_in: str  # the part in which ranks wait for each other; "" where they do not


def find_straggler(ranks: Ranks) -> Straggler | None:
    """Return None where the ranks' own work cannot be told from waiting."""
    parts = _parts(ranks)
    steps = ranks.columns.get(STEP)
    if steps is None or not len(steps) or steps.shape[1] < 2:  # noqa: PLR2004 - ranks
        return None

    meeting = _meeting(parts, steps)
    if meeting is None:
        return None
    own = np.maximum(0.0, steps - sum((parts[name] for name in meeting), 0.0 * steps))
    rank = _slowest(own)
    others = _of_others(own, rank)
    excess = np.maximum(0.0, own[:, rank] - others)
    tail_share, chance = _tail(own, rank)
    total = float(steps.max(axis=1).sum())
    return Straggler(
        rank=ranks.ranks[rank] if rank < len(ranks.ranks) else rank,
        step_seconds=total / len(steps),
        own_seconds=float(own[:, rank].mean()),
        others_seconds=float(others.mean()),
        share=float(excess.sum()) / total if total > 0 else 0.0,
        tail_share=tail_share,
        chance_share=chance,
        excess={
            name: float((part[:, rank] - _of_others(part, rank)).mean())
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
    """Return the parts in which ranks wait for each other; None where unknown."""
    named = [
        name
        for name in parts
        if kind_of_phase(name.removeprefix(PHASE)) is PhaseKind.COMMUNICATE
    ]
    if named:
        return named
    totals = steps.sum(axis=0)
    if float(np.ptp(totals)) > TOGETHER * float(totals.max()):
        # Each goes its own way, and none waits.
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


def _slowest(own: Array) -> int:
    """Return the rank that is slowest in most steps; of equals, by its time."""
    counts = np.bincount(own.argmax(axis=1), minlength=own.shape[1])
    most = np.flatnonzero(counts == counts.max())
    return int(most[own[:, most].sum(axis=0).argmax()])


def _of_others(column: Array, rank: int) -> Array:
    median: Array = np.median(np.delete(column, rank, axis=1), axis=1)
    return median


def _tail(own: Array, rank: int) -> tuple[float, float]:
    """Return the rank's share of steps that stand out, and the most that chance gives."""
    count, width = own.shape
    slowest = own.argmax(axis=1)
    rows = np.arange(count)
    ordered = np.sort(own, axis=1)
    typical = np.median(ordered[:, :-1], axis=1)
    stand_out = own[rows, slowest] > OUTLIER_RATIO * typical
    if stand_out.sum() < FEWEST_OUTLIERS * count:
        stand_out = np.ones(count, np.bool_)

    share = float((slowest[stand_out] == rank).mean())
    chance = 1.0 / width
    error = math.sqrt(chance * (1.0 - chance) / int(stand_out.sum()))
    return share, chance + BEYOND_CHANCE * error
