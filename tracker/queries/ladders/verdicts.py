"""Verdicts on a change of throughput, as values and in words (pure).

A ratio is throughput after divided by throughput before: 2 is twice as fast.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

# A smaller change in either direction is not significant.
MODERATE_CHANGE = 0.03
# A change of this size justifies a separate step.
MATERIAL_CHANGE = 0.08

NOT_ENOUGH_STEPS = "not enough steady steps to judge"
MAX_DIGITS = 2


class Verdict(StrEnum):
    FASTER = "faster"
    SLOWER = "slower"
    SAME = "no measurable change"


class Materiality(StrEnum):
    MATERIAL = "material"
    MODERATE = "moderate"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Change:
    """A ratio of throughputs and its 95 % interval.

    A rough one comes from a run with fewer than three blocks of 50 steps, which do not show
    the variation.
    """

    ratio: float
    low: float
    high: float
    is_rough: bool = False

    @property
    def verdict(self) -> Verdict:
        if self.low > 1 and self.ratio >= 1 + MODERATE_CHANGE:
            return Verdict.FASTER
        if self.high < 1 and self.ratio <= 1 - MODERATE_CHANGE:
            return Verdict.SLOWER
        return Verdict.SAME

    @property
    def materiality(self) -> Materiality:
        if self.verdict is Verdict.SAME:
            return Materiality.NONE
        is_material = abs(self.ratio - 1) >= MATERIAL_CHANGE
        return Materiality.MATERIAL if is_material else Materiality.MODERATE

    @property
    def headline(self) -> str:
        """Return a short text without the interval: 1.8× faster."""
        if self.verdict is Verdict.SAME:
            return Verdict.SAME
        return f"{self._times[0]}× {self.verdict}"

    @property
    def interval(self) -> str:
        """Return the interval in the terms of the headline; without a change, as ratios."""
        if self.verdict is Verdict.SAME:
            return f"{self.low:.{MAX_DIGITS}f}–{self.high:.{MAX_DIGITS}f}×"
        low, high = self._times[1:]
        return f"{low}–{high}"

    @property
    def sentence(self) -> str:
        return f"{self.headline} ({self.interval})"

    @property
    def _times(self) -> tuple[str, str, str]:
        if self.verdict is Verdict.SLOWER:
            return distinct(1 / self.ratio, 1 / self.high, 1 / self.low)
        return distinct(self.ratio, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Climb:
    """The total change of a ladder; `biggest_label` names the step with the largest gain.

    `rivals` are steps whose interval overlaps with the largest gain.
    """

    change: Change
    from_label: str
    to_label: str
    biggest: Change | None
    biggest_label: str
    rivals: tuple[tuple[Change, str], ...] = ()

    @property
    def sentence(self) -> str:
        text = f"{self.from_label} → {self.to_label}: {self.change.headline}"
        if self.biggest is None:
            return text
        if self.rivals:
            return f"{text}; the biggest steps were {quoted(self.biggest_labels)}"
        times = self.biggest.headline.removesuffix(f" {Verdict.FASTER}")
        return f"{text}; the biggest step was “{self.biggest_label}” ({times})"

    @property
    def biggest_labels(self) -> tuple[str, ...]:
        return tuple(label for _, label in self.biggest_steps)

    @property
    def biggest_steps(self) -> tuple[tuple[Change, str], ...]:
        """Return the biggest step and its rivals, each with its label."""
        if self.biggest is None:
            return ()
        return ((self.biggest, self.biggest_label), *self.rivals)

    @property
    def did_most(self) -> bool:
        """Return whether the biggest step contributed more than all others together."""
        if self.biggest is None or self.rivals or self.change.ratio <= 1:
            return False
        return math.log(self.biggest.ratio) > math.log(self.change.ratio) / 2


def climb(rungs: Iterable[tuple[str, Change | None, Change | None]]) -> Climb | None:
    """Summarize a ladder, given labels and changes against the previous and the first run.

    None if no run after the first could be judged.
    """
    first, *later = list(rungs) or [("", None, None)]
    judged = [(label, whole) for label, _, whole in later if whole is not None]
    if not judged:
        return None

    steps = [
        (step, label)
        for label, step, _ in later
        if step is not None and step.verdict is Verdict.FASTER
    ]
    biggest, biggest_label = max(
        steps, key=lambda found: found[0].ratio, default=(None, "")
    )
    rivals = tuple(
        (step, label)
        for step, label in steps
        if biggest is not None and step is not biggest and step.high >= biggest.low
    )
    last_label, change = judged[-1]
    return Climb(change, first[0], last_label, biggest, biggest_label, rivals)


def quoted(labels: Iterable[str]) -> str:
    """Return “one”, “two” and “three”."""
    *most, last = [f"“{label}”" for label in labels]
    return f"{', '.join(most)} and {last}" if most else last


def distinct(middle: float, low: float, high: float) -> tuple[str, str, str]:
    """Format three numbers with the fewest digits that distinguish them, at most two."""
    for digits in range(1, MAX_DIGITS + 1):
        texts = tuple(f"{value:.{digits}f}" for value in (middle, low, high))
        if len(set(texts)) == len(texts):
            break
    return texts[0], texts[1], texts[2]
