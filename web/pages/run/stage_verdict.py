"""The verdict on a stage without a confident finding (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.breakdown.categories import is_unexplained, largest_loss
from tracker.queries.diagnoses.diagnoses import StageDiagnosis
from tracker.queries.diagnoses.time_breakdowns import LABELS
from tracker.queries.runs.verdicts import is_enough
from web.pages.run.unanswered_rules import UnansweredGroup, group_by_missing_data

# A loss of this part of a stage's time is worth a word.
NOTABLE_LOSS = 0.10
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
        loss=_notable_loss(diagnosis),
    )


def _notable_loss(diagnosis: StageDiagnosis) -> Loss | None:
    """Return the largest loss of the time breakdown; None if it is small."""
    if diagnosis.ledger is None:
        return None
    seconds = diagnosis.ledger.seconds
    loss = largest_loss(seconds)
    if loss is None or loss[1] < NOTABLE_LOSS:
        return None
    use, share = loss
    return Loss(LABELS[use], seconds[use], share, is_unexplained(loss))
