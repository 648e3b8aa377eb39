"""What findings promised against what was achieved, and what is left to gain (pure)."""

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

# When all that is left promises less than this together, a step is not worth its work.
WORTHWHILE_GAIN = 0.05
MAX_NAMED = 3
# Where nobody knows whether steps wait for data, nobody knows what is left.
INPUT_RULE = "data-wait-dominates"

NOTHING = FindingChanges()


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the finding that a step was about promised to whoever fixes it.

    `is_fixed` is true where the finding is gone, None where nobody can tell.
    """

    rule: str
    title: str
    bound: float
    likely: float
    is_fixed: bool | None = None


class Outcome(StrEnum):
    """How what was achieved compares with what was promised."""

    UNTRIED = "not what was promised: the finding is still there"
    BEYOND_BOUND = "more than that fix alone could bring"
    AS_LIKELY = "at least what was likely"
    LESS = "less than was likely"
    UNCERTAIN = "not certain to be more or less than was likely"


@dataclass(frozen=True, slots=True)
class LeftGain:
    """What the causes that are open promise together, likely, as a share of throughput."""

    share: float
    titles: tuple[str, ...]  # those that promise most
    without_gain: int  # findings whose gain is not known
    unanswered: int = 0  # rules of the stage that lacked something

    @property
    def advises_stop(self) -> bool:
        """Whether further steps are not worth it, as far as is known."""
        return self.share < WORTHWHILE_GAIN and not self.without_gain


def prediction_of(
    before: Sequence[StageDiagnosis],
    stage: str | None,
    changes: FindingChanges = NOTHING,
) -> Prediction | None:
    """Return what the finding promised that the step to this rung was about.

    That is the one that has gone, of several the one that promised most. While none has,
    or only what promised less, it is the primary one: whoever took the step will have
    tried that. What promised less than could be measured promised nothing.
    """
    found = [
        finding
        for diagnosis in before
        if diagnosis.stage == stage
        for finding in every_finding(diagnosis.findings)
    ]
    gone = {finding.rule for finding in changes.gone if finding.stage == stage}
    unjudged = {finding.rule for finding in changes.unjudged if finding.stage == stage}
    wanted = [f for f in found if f.is_primary or f.rule in gone]
    # Of findings that promise the same, the first of those that have gone counts: causes
    # come before symptoms.
    chosen = max(wanted, key=lambda f: (_likely(f), f.rule in gone), default=None)
    if chosen is None or chosen.gain is None:
        return None
    if chosen.gain.likely < 1.0 + MODERATE_CHANGE:
        return None
    return Prediction(
        chosen.rule,
        chosen.title,
        chosen.gain.bound,
        chosen.gain.likely,
        is_fixed=None if chosen.rule in unjudged else chosen.rule in gone,
    )


def outcome_of(predicted: Prediction | None, change: Change | None) -> Outcome | None:
    """Compare by the interval of what was achieved; None where one of them is unknown.

    A promise is about a fix: while the finding is there, none was tried whole.
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
    """Add up what the causes of a stage promise; None where that is not known.

    Symptoms go with their causes, and are not counted again.
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
