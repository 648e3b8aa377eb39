"""The time breakdown of a stage as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Use(StrEnum):
    """Categories of the time breakdown, in the order of the parts of a bar."""

    COMPUTING = "computing"
    IDLE_IN_STEPS = "idle_in_steps"
    DATA_WAIT = "data_wait"
    COMMUNICATION = "communication"
    COPY = "copy"
    BOUNDARY = "boundary"
    EVALUATION = "evaluation"
    CHECKPOINT = "checkpoint"
    INITIALIZATION = "initialization"
    IDLE = "idle"
    LOST = "lost"
    UNATTRIBUTED = "unattributed"
    UNKNOWN = "unknown"


# A GPU held in these categories computes nothing. Evaluation computes.
IDLE_USES = (
    Use.IDLE_IN_STEPS,
    Use.DATA_WAIT,
    Use.COMMUNICATION,
    Use.COPY,
    Use.BOUNDARY,
    Use.CHECKPOINT,
    Use.INITIALIZATION,
    Use.IDLE,
)
WASTED_USES = (*IDLE_USES, Use.LOST)
# No measurement explains these.
UNEXPLAINED_USES = (Use.UNATTRIBUTED, Use.UNKNOWN)
KNOWN_USES = tuple(use for use in Use if use not in UNEXPLAINED_USES)
LOSSES = tuple(use for use in KNOWN_USES if use is not Use.COMPUTING)
# Losses within steps, where a cause must be; from this share of all time on, a stage is not
# well although no rule found the cause.
IN_STEPS = (Use.IDLE_IN_STEPS, Use.DATA_WAIT, Use.COMMUNICATION, Use.COPY)
LARGE_LOSS = 0.25


@dataclass(frozen=True, slots=True)
class Ledger:
    """`seconds` has every category and adds up to `total`; energy is None if not measured.

    `gpus` is the number of held GPUs; with 0 the seconds are those of the stage.
    """

    gpus: int
    seconds: Mapping[Use, float]
    energy_joules: float | None = None

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    @property
    def idle_share(self) -> float | None:
        """Return the share without computing; None if most of the time is unexplained."""
        unexplained = sum(self.seconds.get(use, 0.0) for use in UNEXPLAINED_USES)
        if not self.total > 0 or unexplained > self.total / 2:
            return None
        return sum(self.seconds.get(use, 0.0) for use in IDLE_USES) / self.total


def largest_loss(seconds: Mapping[Use, float]) -> tuple[Use, float] | None:
    """Return the largest loss and its share of all time; None without any."""
    part = shares(seconds)
    losses = {use: part[use] for use in LOSSES if part.get(use, 0.0) > 0}
    if not losses:
        return None
    return max(losses.items(), key=lambda item: item[1])


def is_unexplained(loss: tuple[Use, float] | None) -> bool:
    """Return whether a stage without findings loses too much time to be well."""
    return loss is not None and loss[0] in IN_STEPS and loss[1] >= LARGE_LOSS


def grown_most(before: Ledger | None, after: Ledger | None) -> tuple[Use, float] | None:
    """Return the loss that grew most, and by how many seconds of the stage.

    None if no loss grew or a breakdown is missing.
    """
    if before is None or after is None:
        return None
    longer = {
        use: seconds / max(1, after.gpus)
        - before.seconds.get(use, 0.0) / max(1, before.gpus)
        for use, seconds in after.seconds.items()
        if use in LOSSES
    }
    use = max(longer, key=lambda use: longer[use], default=None)
    return None if use is None or longer[use] <= 0 else (use, longer[use])


def added_up(ledgers: Iterable[Ledger]) -> Ledger | None:
    """Add time breakdowns of the same kind: all with GPUs, or all without."""
    found = list(ledgers)
    if not found:
        return None
    energies = [each.energy_joules for each in found if each.energy_joules is not None]
    return Ledger(
        max(each.gpus for each in found),
        {use: sum(each.seconds.get(use, 0.0) for each in found) for use in Use},
        sum(energies) if energies else None,
    )


def shares(seconds: Mapping[T, float], *, parts: int = 1000) -> dict[T, float]:
    """Return shares of the total, rounded so that they add up to exactly 1."""
    total = sum(seconds.values())
    if not total > 0:
        return {}
    exact = {use: parts * value / total for use, value in seconds.items()}
    floors = {use: int(value) for use, value in exact.items()}
    missing = parts - sum(floors.values())
    by_rest = sorted(exact, key=lambda use: floors[use] - exact[use])
    for use in by_rest[:missing]:
        floors[use] += 1
    return {use: value / parts for use, value in floors.items()}
