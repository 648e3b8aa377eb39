"""Compares a diagnosis with the label of its job (pure)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from evaluation.jobs import Expects, Label

# Findings that describe a state and name no problem.
STATEMENTS = frozenset({"gpu-is-the-limit", "gpu-is-a-slice"})
NEIGHBORS = "others-use-the-same-hardware"
# From this share of the machine on, it is true that others use it.
NOTABLE_FOREIGN_SHARE = 0.30


class Verdict(StrEnum):
    RIGHT = "right"
    PARTLY = "partly"  # the cause is listed, but it is not the main finding
    WRONG = "wrong"
    NOT_ENOUGH_DATA = "not enough data"  # neither the cause nor anything wrong


@dataclass(frozen=True, slots=True)
class Found:
    """One open finding; `is_shown` if the run page shows it as a problem."""

    rule: str
    stage: str
    confidence: float
    is_main: bool
    is_shown: bool
    summary: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recording with all findings of its run."""

    name: str
    mode: str
    label: Label
    recorded_at: str
    found: tuple[Found, ...]
    failed: tuple[str, ...]  # rules that raised
    says_well: bool  # the run page states that no bottleneck was found
    foreign_cores: float | None
    cores: float

    @property
    def beside(self) -> frozenset[str]:
        """Rules that are true of the job, but are not its fault."""
        foreign = (self.foreign_cores or 0.0) / self.cores
        others = {NEIGHBORS} if foreign >= NOTABLE_FOREIGN_SHARE else set()
        return self.label.beside | STATEMENTS | others

    @property
    def main(self) -> Found | None:
        return next((each for each in self.found if each.is_main), None)

    @property
    def alarms(self) -> list[Found]:
        """Problems that a reader sees and the job does not have."""
        true = self.beside | self.label.causes
        return [
            each
            for each in self.found
            if (each.is_shown or each.is_main) and each.rule not in true
        ]


def verdict_of(one: Replayed) -> Verdict:
    """Compare the main finding with the label; for a healthy job any alarm is wrong."""
    if one.label.expects is Expects.HEALTHY:
        return Verdict.WRONG if one.alarms else Verdict.RIGHT
    if one.label.expects is Expects.NOT_ENOUGH_DATA:
        return Verdict.WRONG if one.alarms or one.says_well else Verdict.RIGHT
    main = one.main
    if main is not None and main.rule in one.label.causes:
        return Verdict.RIGHT
    if main is not None and main.rule not in one.beside:
        # A wrong main finding is misleading, whatever is listed after it.
        return Verdict.WRONG
    listed = {each.rule for each in one.found}
    return Verdict.PARTLY if listed & one.label.causes else Verdict.NOT_ENOUGH_DATA


@dataclass(frozen=True, slots=True)
class Share:
    """A count with its 95 % Wilson interval."""

    count: int
    of: int

    def interval(self) -> tuple[float, float]:
        if not self.of:
            return 0.0, 1.0
        z = 1.959964
        share, squared = self.count / self.of, z * z
        middle = (share + squared / (2 * self.of)) / (1 + squared / self.of)
        half = z / (1 + squared / self.of)
        half *= math.sqrt(
            share * (1 - share) / self.of + squared / (4 * self.of * self.of)
        )
        return max(0.0, middle - half), min(1.0, middle + half)

    def __str__(self) -> str:
        if not self.of:
            return "–"
        low, high = self.interval()
        return (
            f"{self.count} of {self.of}, {100 * self.count / self.of:.0f} %"
            f" ({100 * low:.0f}–{100 * high:.0f} %)"
        )
