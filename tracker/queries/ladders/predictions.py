"""Predicted gains of findings compared with measured ones, and the remaining gain (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tracker.queries.diagnoses.diagnoses import (
    FindingView,
    StageDiagnosis,
    every_finding,
)
from tracker.queries.ladders.finding_changes import FindingChanges
from tracker.queries.ladders.verdicts import MODERATE_CHANGE, Change

# If the total remaining gain is below this, a further step is not worth the work.
WORTHWHILE_GAIN = 0.05
MAX_NAMED = 3
# Without an answer of this rule, the remaining gain is unknown.
INPUT_RULE = "data-wait-dominates"

NOTHING = FindingChanges()


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted gain of the finding that a step addresses.

    `is_fixed` is true if the finding is gone, None if it could not be judged again.
    """

    rule: str
    title: str
    bound: float
    likely: float
    is_fixed: bool | None = None


class Outcome(StrEnum):
    """The measured gain compared with the predicted one."""

    UNTRIED = "not comparable with the prediction: the finding is still present"
    BEYOND_BOUND = "above the predicted maximum"
    AS_LIKELY = "at least as predicted"
    LESS = "less than predicted"
    UNCERTAIN = "not significantly different from the prediction"


@dataclass(frozen=True, slots=True)
class LeftGain:
    """The total expected gain of the open causes, as a share of throughput."""

    share: float
    titles: tuple[str, ...]  # those with the largest gain
    without_gain: int  # findings with an unknown gain
    unanswered: int = 0  # rules of the stage with missing inputs

    @property
    def advises_stop(self) -> bool:
        """Return whether further steps are not worth it, as far as is known."""
        return self.share < WORTHWHILE_GAIN and not self.without_gain


def prediction_of(
    before: Sequence[StageDiagnosis],
    stage: str | None,
    changes: FindingChanges = NOTHING,
) -> Prediction | None:
    """Return the prediction of the finding that the step to this run addressed.

    It is the finding that is gone, or of several the one with the largest gain. If none is gone,
    or only findings with smaller gains, it is the primary one, which the user probably tried to
    fix. Gains too small to measure are ignored.
    """
    found = [
        finding
        for diagnosis in before
        if diagnosis.stage == stage
        for finding in every_finding(diagnosis.findings)
    ]
    fixed_rules = {finding.rule for finding in changes.gone if finding.stage == stage}
    unjudged = {finding.rule for finding in changes.unjudged if finding.stage == stage}
    candidates = [f for f in found if f.is_primary or f.rule in fixed_rules]
    # Among findings with equal gains, one that is gone is preferred; causes come before
    # symptoms.
    chosen = max(
        candidates, key=lambda f: (_likely(f), f.rule in fixed_rules), default=None
    )
    if chosen is None or chosen.gain is None:
        return None
    if chosen.gain.likely < 1.0 + MODERATE_CHANGE:
        return None
    return Prediction(
        chosen.rule,
        chosen.title,
        chosen.gain.bound,
        chosen.gain.likely,
        is_fixed=None if chosen.rule in unjudged else chosen.rule in fixed_rules,
    )


def outcome_of(predicted: Prediction | None, change: Change | None) -> Outcome | None:
    """Compare by the interval of the measured gain; None if either is unknown.

    A prediction assumes a complete fix, so it does not apply while the finding is present.
    """
    if predicted is None or change is None:
        return None
    if predicted.is_fixed is False:
        return Outcome.UNTRIED
    if change.low > predicted.bound:
        return Outcome.BEYOND_BOUND
    if change.low >= predicted.likely:
        return Outcome.AS_LIKELY
    if change.high < predicted.likely:
        return Outcome.LESS
    return Outcome.UNCERTAIN


def left_gain(
    diagnoses: Iterable[StageDiagnosis], stage: str | None
) -> LeftGain | None:
    """Add up the expected gains of a stage's causes; None if they are unknown.

    Symptoms disappear with their causes and are not counted again.
    """
    of_stage = [d for d in diagnoses if d.stage == stage and d.is_final]
    judged = {rule.name for d in of_stage for rule in d.healthy} | {
        finding.rule for d in of_stage for finding in every_finding(d.findings)
    }
    if INPUT_RULE not in judged:
        return None
    causes = [finding for diagnosis in of_stage for finding in diagnosis.findings]
    promising = sorted(
        (f for f in causes if _likely(f) > 1.0), key=_likely, reverse=True
    )
    return LeftGain(
        share=sum(_likely(finding) - 1.0 for finding in promising),
        titles=tuple(finding.title for finding in promising[:MAX_NAMED]),
        without_gain=sum(
            finding.gain is None and finding.severity != "notice" for finding in causes
        ),
        unanswered=sum(len(diagnosis.unanswered) for diagnosis in of_stage),
    )


def _likely(finding: FindingView) -> float:
    return finding.gain.likely if finding.gain else 1.0
