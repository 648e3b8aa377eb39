"""Whether diagnoses are right: counts and shares of recordings (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.diagnosis.faults import Case

# Findings that state how things are, and accuse nobody.
STATEMENTS = frozenset({"C11", "H13"})
# Others on the same machine: true of a recording that shared it, whatever its job is.
NEIGHBOURS = "H9"
NOTABLE_OTHER_SHARE = 0.30  # of the machine's cores, as the rule has it
# Above it a finding is more than possible.
LIKELY_FROM = 0.50


class Verdict(StrEnum):
    RIGHT = "right"
    ALSO_RIGHT = "also right"
    WRONG = "wrong"
    SILENT = "silent"
    NO_RULE = "no rule yet"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class Found:
    """One open finding, with its rule's number in the catalogue."""

    number: str
    rule: str
    stage: str
    confidence: float
    is_primary: bool
    explained_by: str
    summary: str

    @property
    def is_alarm(self) -> bool:
        """Whether a reader takes it for a fault: more than possible, and no symptom."""
        return (
            self.confidence >= LIKELY_FROM
            and not self.explained_by
            and self.number not in STATEMENTS
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recording, and what all rules made of it."""

    case: Case
    seed: int
    recorded_at: str
    other_cores: float | None  # that everybody else kept busy meanwhile
    steps: int
    size: int  # bytes
    found: tuple[Found, ...]
    failed: tuple[str, ...] = ()  # rules that broke
    # Numbers of rules that lacked a signal in the stage that the case is about.
    unanswered: tuple[str, ...] = ()
    machine_cores: float = 2.0
    gpu: str = ""  # its name; empty where there was none

    @property
    def name(self) -> str:
        return f"{self.case.name} {self.seed}"

    @property
    def primary(self) -> Found | None:
        """The main finding of the stage that the case is about, which is the last."""
        mains = [each for each in self.found if each.is_primary]
        return mains[-1] if mains else None

    @property
    def true_numbers(self) -> set[str]:
        """Return what may be said of the job."""
        true = {self.case.expects, *self.case.also}
        if (self.other_cores or 0.0) >= NOTABLE_OTHER_SHARE * self.machine_cores:
            true.add(NEIGHBOURS)
        return true

    @property
    def false_alarms(self) -> list[Found]:
        """Return what a reader takes for a fault that the job does not have."""
        true = self.true_numbers
        return [
            each for each in self.found if each.is_alarm and each.number not in true
        ]


def verdict_of(replayed: Replayed, known: Iterable[str]) -> Verdict:
    """`known` are the numbers of the rules that exist."""
    case, primary = replayed.case, replayed.primary
    if primary is not None and primary.number == case.expects:
        return Verdict.RIGHT
    if case.expects not in known:
        return Verdict.NO_RULE
    if primary is not None and primary.number in case.also:
        return Verdict.ALSO_RIGHT
    if case.expects in replayed.unanswered:
        return Verdict.UNANSWERED
    return Verdict.SILENT if primary is None else Verdict.WRONG


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with the 95 % interval of Wilson."""

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


@dataclass(frozen=True, slots=True)
class RuleScore:
    number: str
    rule: str  # or several that share the number
    precision: Share  # of its alarms, those where it names what was injected
    recall: Share  # of the recordings made for it, those where it found anything
    primary: Share  # of those, where it was the main finding


def score_rules(
    replayed: Iterable[Replayed], rules: Iterable[tuple[str, str]]
) -> list[RuleScore]:
    """`rules` are numbers and names. A number that nothing concerns is left out."""
    recordings = list(replayed)
    names: dict[str, list[str]] = {}
    for number, rule in rules:
        names.setdefault(number, []).append(rule)
    scores = []
    for number in sorted(names, key=_order):
        alarms = [
            number in each.true_numbers
            for each in recordings
            if any(f.is_alarm and f.number == number for f in each.found)
        ]
        made_for = [each for each in recordings if each.case.expects == number]
        found = [e for e in made_for if any(f.number == number for f in e.found)]
        first = [e for e in made_for if e.primary and e.primary.number == number]
        if alarms or made_for:
            scores.append(
                RuleScore(
                    number,
                    ", ".join(names[number]),
                    Share(sum(alarms), len(alarms)),
                    Share(len(found), len(made_for)),
                    Share(len(first), len(made_for)),
                )
            )
    return scores


def _order(number: str) -> tuple[str, int]:
    return number[:1], int(number[1:]) if number[1:].isdigit() else 0
