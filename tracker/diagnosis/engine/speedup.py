"""The gain of a fix: the maximum and the expected speedup."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tracker.diagnosis.engine.finding import Gain
from tracker.diagnosis.engine.wording import count, duration, percent

# The share of the recoverable time that fixes usually recover. This prior comes from one
# public pair of runs before and after a fix; pairs of this server adjust it.
USUAL_RECOVERY = 0.5
# The weight of the prior, in pairs.
PRIOR_PAIRS = 4

# Limits the gain of a step without other work.
LARGEST_BOUND = 100.0


@dataclass(frozen=True, slots=True)
class Floor:
    """A minimum step time, and the limit that sets it."""

    seconds: float
    limit: str


def usual_gain(
    share: float, basis: str, *, recovers: str = "the difference", next_limit: str = ""
) -> Gain:
    """Return the gain of a fix that saves the usual part of a share of all time."""
    return Gain(
        bound=1.0 / (1.0 - share),
        likely=_likely(share, USUAL_RECOVERY),
        basis=basis,
        next_limit=next_limit,
        recovers=recovers,
    )


def expected_gain(
    step_seconds: float, floors: Sequence[Floor], *, what: str = "A step"
) -> Gain:
    """Return the gain from a time, such as that of a step, to the highest of its floors."""
    binding = max(floors, key=lambda floor: floor.seconds)
    lowest = max(binding.seconds, step_seconds / LARGEST_BOUND)
    return usual_gain(
        max(0.0, 1.0 - lowest / step_seconds),
        f"{what} takes {duration(step_seconds)};"
        f" {duration(min(lowest, step_seconds))} is the floor set by {binding.limit}.",
        next_limit=binding.limit,
    )


def gain_of_share(share: float, what: str, *, next_limit: str = "") -> Gain:
    """Return the gain of saving a share of all time; `what` takes that time."""
    share = min(max(0.0, share), 1.0 - 1.0 / LARGEST_BOUND)
    return usual_gain(
        share,
        f"{what} takes {percent(share)} of the time.",
        recovers="that",
        next_limit=next_limit,
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """An applied fix: predicted and saved share of the time before it."""

    rule: str
    promised: float
    saved: float


@dataclass(frozen=True, slots=True)
class Recovery:
    """The share of recoverable time to expect; `observed` is the mean of the pairs."""

    expected: float
    observed: float
    pairs: int


def learn_recoveries(pairs: Iterable[Pair]) -> dict[str, Recovery]:
    """Return the share that fixes recovered, by rule, shrunk towards the prior."""
    recovered: dict[str, list[float]] = {}
    for pair in pairs:
        if not (pair.promised > 0 and math.isfinite(pair.saved)):
            continue
        part = min(1.0, max(0.0, pair.saved / pair.promised))
        recovered.setdefault(pair.rule, []).append(part)
    return {
        rule: Recovery(
            (PRIOR_PAIRS * USUAL_RECOVERY + sum(parts)) / (PRIOR_PAIRS + len(parts)),
            sum(parts) / len(parts),
            len(parts),
        )
        for rule, parts in recovered.items()
    }


def with_recovery(gain: Gain | None, recovery: Recovery | None) -> Gain | None:
    """Adjust a usual gain to the learned recovery, and add the assumption to its basis."""
    if gain is None or not gain.recovers or not gain.bound > 1.0:
        return gain
    if recovery is None:
        expected = USUAL_RECOVERY
        assumed = (
            f"Assumes that a fix recovers {percent(expected)} of {gain.recovers}; no"
            " similar fix has been measured on this server yet."
        )
    else:
        expected = recovery.expected
        fixes = count(recovery.pairs, "earlier fix", "earlier fixes")
        assumed = (
            f"{fixes} on this server recovered {percent(recovery.observed)} of the"
            f" difference on average; this prediction assumes {percent(expected)}."
        )
    likely = _likely(1.0 - 1.0 / gain.bound, expected)
    return replace(gain, likely=likely, basis=f"{gain.basis} {assumed}")


def _likely(share: float, recovery: float) -> float:
    return 1.0 / (1.0 - recovery * share)


def recoverable_share(gain: Gain | None) -> float:
    """Return the share of time that a fix is expected to save."""
    return 1.0 - 1.0 / gain.likely if gain and gain.likely > 0 else 0.0
