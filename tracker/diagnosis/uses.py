"""What time was used for, as a value that can be added up and shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Use(StrEnum):
    """What time was used for; the order is that of the parts of a bar."""

    USEFUL = "useful"
    DATA_WAIT = "data_wait"
    COMMUNICATION = "communication"
    COPY = "copy"
    BOUNDARY = "boundary"
    EVALUATION = "evaluation"
    CHECKPOINT = "checkpoint"
    INITIALISATION = "initialisation"
    IDLE = "idle"
    LOST = "lost"
    UNKNOWN = "unknown"


# While a GPU is held for these, it computes nothing. Evaluation computes, and what was
# lost was computed, too.
IDLE_USES = (
    Use.DATA_WAIT,
    Use.COMMUNICATION,
    Use.COPY,
    Use.BOUNDARY,
    Use.CHECKPOINT,
    Use.INITIALISATION,
    Use.IDLE,
)
KNOWN_USES = tuple(use for use in Use if use is not Use.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Ledger:
    """`seconds` has every use and adds up to `total`; energy is None if not measured.

    `gpus` is how many GPUs were held; 0: the seconds are the stage's own.
    """

    gpus: int
    seconds: Mapping[Use, float]
    energy_joules: float | None = None

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


def grown_most(before: Ledger | None, after: Ledger | None) -> tuple[Use, float] | None:
    """Return what took longer than before by most, but for useful work, and by how much.

    In seconds of the stage, whatever GPUs it held; None: nothing took longer, or nobody
    knows.
    """
    if before is None or after is None:
        return None
    longer = {
        use: seconds / max(1, after.gpus)
        - before.seconds.get(use, 0.0) / max(1, before.gpus)
        for use, seconds in after.seconds.items()
        if use is not Use.USEFUL
    }
    use = max(longer, key=lambda use: longer[use], default=None)
    return None if use is None or longer[use] <= 0 else (use, longer[use])


def added_up(ledgers: Iterable[Ledger]) -> Ledger | None:
    """Add ledgers of the same kind: all with GPUs, or all without."""
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
