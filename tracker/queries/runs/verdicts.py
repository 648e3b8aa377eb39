"""The verdict for runs without a main finding, such as healthy or unknown."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from uuid import UUID

from tracker.diagnosis.breakdown.categories import is_unexplained, largest_loss
from tracker.models import Diagnosis
from tracker.queries.diagnoses.diagnoses import is_about_another_stage
from tracker.queries.diagnoses.time_breakdowns import ledger_from
from tracker.queries.runs.columns import each_of

# Below this share of answers of the applicable rules, the verdict is unknown.
ENOUGH_ANSWERS = 0.4


class Verdict(StrEnum):
    WELL = "well"  # enough rules answered without a finding
    UNEXPLAINED = "unexplained"  # the same, but much time is lost inside steps
    UNKNOWN = "unknown"  # most rules had missing inputs
    NOT_DIAGNOSED = "not diagnosed"

    @property
    def is_judged(self) -> bool:
        """Whether enough rules had their data."""
        return self in (Verdict.WELL, Verdict.UNEXPLAINED)


def is_enough(answered: int, asked: int) -> bool:
    return answered > ENOUGH_ANSWERS * asked


def verdicts(run_ids: Collection[UUID]) -> dict[UUID, Verdict]:
    """Return the verdict of each of these runs, none of which has a main finding.

    A run is healthy if any stage is: short stages next to a long one are seldom judged.
    """
    found = dict.fromkeys(run_ids, Verdict.NOT_DIAGNOSED)
    if not found:
        return found
    stages = Diagnosis.objects.filter(run_id__in=each_of(list(found))).values_list(
        "run_id", "healthy", "unanswered", "failed", "ledger"
    )
    for run_id, healthy, unanswered, failed, row in stages:
        lacking = sum(
            not is_about_another_stage(lacks) for lacks in unanswered.values()
        )
        answered = len(healthy)
        if is_enough(answered, answered + lacking + len(failed)):
            ledger = ledger_from(row)
            if ledger is not None and is_unexplained(largest_loss(ledger.seconds)):
                found[run_id] = Verdict.UNEXPLAINED
            elif found[run_id] is not Verdict.UNEXPLAINED:
                found[run_id] = Verdict.WELL
        elif found[run_id] is Verdict.NOT_DIAGNOSED:
            found[run_id] = Verdict.UNKNOWN
    return found
