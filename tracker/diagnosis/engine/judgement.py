"""A finding with what the engine makes of it: how sure, how long, whose symptom."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tracker.diagnosis.engine.finding import Finding
from tracker.diagnosis.engine.measurements import Window


class Label(StrEnum):
    CONFIRMED = "confirmed"
    LIKELY = "likely"
    POSSIBLE = "possible"


CONFIRMED_FROM = 0.75
LIKELY_FROM = 0.50
# Below this a finding is not worth anybody's time.
SILENT_BELOW = 0.30

# A share of windows is worth less where step times never settled.
UNSTEADY = 0.80

# Less than both, and nothing is confirmed however clear it looks.
STEPS_TO_CONFIRM = 200
SECONDS_TO_CONFIRM = 300.0
MAX_WHEN_SHORT = 0.74


@dataclass(frozen=True, slots=True)
class Judgement:
    rule: str
    title: str
    scope: str  # "" for the whole stage, or "gpu/0"
    finding: Finding
    window: Window
    persistence: float  # share of the windows in which the rule saw it
    confidence: float
    # The steps of the window; None in a stage without steps.
    first_step: float | None = None
    last_step: float | None = None
    explained_by: str = ""
    # The rule whose finding has to be cured before the cure of this one helps.
    comes_after: str = ""
    is_primary: bool = False


def confidence_of(finding: Finding, persistence: float, *, is_short: bool) -> float:
    confidence = finding.quality * persistence * finding.margin * finding.corroboration
    return min(confidence, MAX_WHEN_SHORT) if is_short else confidence


def label_of(confidence: float) -> Label:
    if confidence >= CONFIRMED_FROM:
        return Label.CONFIRMED
    return Label.LIKELY if confidence >= LIKELY_FROM else Label.POSSIBLE
