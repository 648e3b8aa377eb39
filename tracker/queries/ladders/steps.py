"""What one rung of a ladder changed against the rung before (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tracker.diagnosis.analysis.quality import QualityChange
from tracker.diagnosis.breakdown.categories import Use
from tracker.diagnosis.breakdown.step import StepBreakdown
from tracker.models import State
from tracker.queries.compare.comparison import same
from tracker.queries.diagnoses.time_breakdowns import LedgerView
from tracker.queries.hardware.utilization import Utilisation
from tracker.queries.ladders.finding_changes import FindingChanges
from tracker.queries.ladders.predictions import Outcome, Prediction
from tracker.queries.ladders.verdicts import NOT_ENOUGH_STEPS, Change, Verdict
from tracker.queries.run.attributes import AttributeRow, Value
from tracker.queries.series.metrics import quality_rank

LONGEST_LABEL = 48
NOT_MEASURED = Utilisation()
BOTH_MUST_COUNT = "cannot be compared: only one of the two counts its examples"


@dataclass(frozen=True, slots=True)
class StageTime:
    name: str
    state: str
    started_at: datetime | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class ValueChange:
    """An attribute that differs from the rung before; None: absent there or here."""

    path: str
    before: Value | None
    after: Value | None


@dataclass(frozen=True, slots=True)
class RungView:
    """A rung as pages and the API tell it; None where something is not known."""

    position: int
    run_id: UUID
    run_name: str
    state: str
    note: str
    label: str  # what people call it
    total_seconds: float | None
    stages: tuple[StageTime, ...]
    params: tuple[ValueChange, ...]
    machine: tuple[ValueChange, ...]  # facts that make the comparison unfair
    breakdown: StepBreakdown | None
    against_previous: Change | None
    against_baseline: Change | None
    why_no_change: str
    gpu_count: int | None
    quality: AttributeRow | None
    quality_before: AttributeRow | None
    is_diagnosed: bool
    findings: FindingChanges
    predicted: Prediction | None
    outcome: Outcome | None = None
    learned: QualityChange | None = None  # against the rung before
    utilisation: Utilisation = NOT_MEASURED
    ledger: LedgerView | None = None  # all stages; its money is by the project's price
    # How long the compared stage took as a whole, on the rung before and here.
    stage_seconds: tuple[float | None, float | None] = (None, None)
    # What took longer there than on the rung before, and by how many seconds.
    stage_grown: tuple[Use, float] | None = None
    silent_for: timedelta | None = None  # not running, or heard of lately

    @property
    def is_unforeseen(self) -> bool:
        """Faster by what no finding of the rung before had promised."""
        change = self.against_previous
        if change is None or change.verdict is not Verdict.FASTER:
            return False
        return self.outcome in (None, Outcome.UNTRIED, Outcome.BEYOND_BOUND)

    @property
    def is_faster_but_worse(self) -> bool:
        change, learned = self.against_previous, self.learned
        if change is None or learned is None:
            return False
        return change.verdict is Verdict.FASTER and learned.is_worse


def rung_labels(rungs: Sequence[tuple[str, str]]) -> list[str]:
    """Return what people call each rung, given its note and its run's name.

    That is what was changed, if all rungs after the baseline say so briefly; otherwise
    the run's name. Mixing the two would not read as one ladder.
    """
    notes = [first_line(note) for note, _ in rungs]
    are_brief = all(0 < len(note) <= LONGEST_LABEL for note in notes[1:])
    return [
        note if are_brief and 0 < len(note) <= LONGEST_LABEL else name
        for note, (_, name) in zip(notes, rungs, strict=True)
    ]


def first_line(note: str) -> str:
    return note.strip().partition("\n")[0].strip()


def changed_values(
    before: Mapping[str, AttributeRow], after: Mapping[str, AttributeRow]
) -> tuple[ValueChange, ...]:
    """Return the attributes that differ, by path."""
    return tuple(
        ValueChange(path, _value(before.get(path)), _value(after.get(path)))
        for path in sorted(before.keys() | after.keys())
        if not same(before.get(path), after.get(path))
    )


def changed_machine(
    before: Mapping[str, AttributeRow], after: Mapping[str, AttributeRow]
) -> tuple[ValueChange, ...]:
    """Return the facts that are known of both and differ."""
    both = before.keys() & after.keys()
    return changed_values(
        {path: before[path] for path in both}, {path: after[path] for path in both}
    )


def why_no_change(before: StepBreakdown | None, after: StepBreakdown | None) -> str:
    """Say why there is no verdict."""
    if before is None or after is None:
        return NOT_ENOUGH_STEPS
    counts_differ = (before.examples_per_step is None) != (
        after.examples_per_step is None
    )
    return BOTH_MUST_COUNT if counts_differ else NOT_ENOUGH_STEPS


def stage_seconds(stages: Sequence[StageTime], name: str | None) -> float | None:
    """Return how long a stage took that has ended."""
    for stage in stages:
        if stage.name == name and stage.state != State.RUNNING:
            return stage.seconds
    return None


def guess_quality(paths: Mapping[str, int]) -> str | None:
    """Pick the path that most likely measures quality; counts are runs that have it."""
    rated = [
        (quality_rank(path), -count, path)
        for path, count in paths.items()
        if quality_rank(path) is not None
    ]
    return min(rated)[-1] if rated else None


def guess_stage(stages: Mapping[str, int]) -> str | None:
    """Pick the stage to compare: the one that trains, else the one most runs have."""
    rated = [
        ("train" not in name.lower(), -count, name) for name, count in stages.items()
    ]
    return min(rated)[-1] if rated else None


def _value(row: AttributeRow | None) -> Value | None:
    return None if row is None else row.value
