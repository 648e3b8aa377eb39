"""A finding with the engine's assessment: confidence, window and cause."""

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
# Findings below this confidence are not reported.
SILENT_BELOW = 0.30

# Factor for persistence if step times never became steady.
UNSTEADY = 0.80

# Below both limits no finding is confirmed, however clear it is.
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
    persistence: float  # share of the windows with the finding
    confidence: float
    # Share of the window that the finding is about: of one about steps, their time.
    time_share: float = 1.0
    # The steps of the window; None in a stage without steps.
    first_step: float | None = None
    last_step: float | None = None
    explained_by: str = ""
    # The rule whose finding has to be fixed before a fix of this one helps.
    comes_after: str = ""
    is_primary: bool = False


def confidence_of(finding: Finding, persistence: float, *, is_short: bool) -> float:
    confidence = finding.quality * persistence * finding.margin * finding.corroboration
    return min(confidence, MAX_WHEN_SHORT) if is_short else confidence


def label_of(confidence: float) -> Label:
    if confidence >= CONFIRMED_FROM:
        return Label.CONFIRMED
    return Label.LIKELY if confidence >= LIKELY_FROM else Label.POSSIBLE
