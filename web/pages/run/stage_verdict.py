"""The verdict on a stage without a confident finding (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.breakdown.categories import LOSSES, Use, shares
from tracker.queries.diagnoses.diagnoses import StageDiagnosis
from tracker.queries.diagnoses.time_breakdowns import LABELS
from tracker.queries.runs.verdicts import is_enough
from web.pages.run.unanswered_rules import UnansweredGroup, group_by_missing_data

# A loss of this part of a stage's time is worth a word.
NOTABLE_LOSS = 0.10
# From this part of the time on, "no bottleneck" would be wrong.
LARGE_LOSS = 0.25
IN_STEPS = (Use.IDLE_IN_STEPS, Use.DATA_WAIT, Use.COMMUNICATION, Use.COPY)
MAX_REASONS = 2


@dataclass(frozen=True, slots=True)
class Loss:
    label: str
    seconds: float
    share: float
    is_large: bool = False  # within steps, where a cause must be


@dataclass(frozen=True, slots=True)
class StageVerdict:
    """`reasons` are why most rules that gave no answer could not, the commonest first."""

    healthy: int
    answered: int
    unanswered: int
    reasons: tuple[UnansweredGroup, ...]
    loss: Loss | None

    @property
    def asked(self) -> int:
        return self.answered + self.unanswered

    @property
    def is_well(self) -> bool:
        """Return whether enough rules had data for "no findings" to be meaningful."""
        return is_enough(self.answered, self.asked)


def verdict_of(diagnosis: StageDiagnosis) -> StageVerdict:
    unanswered = group_by_missing_data(diagnosis.unanswered)
    return StageVerdict(
        healthy=len(diagnosis.healthy),
        answered=len(diagnosis.healthy) + len({f.rule for f in diagnosis.findings}),
        unanswered=len(diagnosis.unanswered) + len(diagnosis.failed),
        reasons=tuple(unanswered[:MAX_REASONS]),
        loss=largest_loss(diagnosis),
    )


def largest_loss(diagnosis: StageDiagnosis) -> Loss | None:
    """Return the largest loss of the time breakdown; None if it is small."""
    if diagnosis.ledger is None:
        return None
    seconds = diagnosis.ledger.seconds
    part = shares(seconds)
    losses = [use for use in LOSSES if part.get(use, 0.0) >= NOTABLE_LOSS]
    if not losses:
        return None
    largest = max(losses, key=lambda use: seconds[use])
    share = part[largest]
    is_large = largest in IN_STEPS and share >= LARGE_LOSS
    return Loss(LABELS[largest], seconds[largest], share, is_large)
