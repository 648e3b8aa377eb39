"""The changes of one run of a ladder against the previous one (pure)."""

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
from tracker.queries.hardware.utilization import Utilization
from tracker.queries.ladders.finding_changes import FindingChanges
from tracker.queries.ladders.predictions import Outcome, Prediction
from tracker.queries.ladders.verdicts import NOT_ENOUGH_STEPS, Change, Verdict
from tracker.queries.run.attributes import AttributeRow, Value
from tracker.queries.series.metrics import quality_rank

LONGEST_LABEL = 48
NOT_MEASURED = Utilization()
BOTH_MUST_COUNT = "cannot be compared: only one of the two counts its examples"


@dataclass(frozen=True, slots=True)
class StageTime:
    name: str
    state: str
    started_at: datetime | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class ValueChange:
    """An attribute that differs from the previous run; None if it is absent there or here."""

    path: str
    before: Value | None
    after: Value | None


@dataclass(frozen=True, slots=True)
class RungView:
    """A run of a ladder for pages and the API; None for unknown values."""

    position: int
    run_id: UUID
    run_name: str
    state: str
    note: str
    label: str  # display name
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
    learned: QualityChange | None = None  # against the previous run
    utilization: Utilization = NOT_MEASURED
    ledger: LedgerView | None = None  # all stages; its money uses the project's price
    # Duration of the compared stage in the previous run and in this one.
    stage_seconds: tuple[float | None, float | None] = (None, None)
    # The category with the largest growth against the previous run, and its seconds.
    stage_grown: tuple[Use, float] | None = None
    stage_steps: int | None = None  # timed steps of the compared stage, with warm-up
    silent_for: timedelta | None = None  # None if not running, or responding

    @property
    def stage_examples(self) -> float | None:
        """Return about how many examples the compared stage processed."""
        step = self.breakdown
        if self.stage_steps is None or step is None or step.examples_per_step is None:
            return None
        return self.stage_steps * step.examples_per_step

    @property
    def is_unforeseen(self) -> bool:
        """Return whether it is faster without a matching prediction in the previous run."""
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
    """Return the display name of each run, given its note and its run's name.

    It is the note if all runs after the baseline have a short one; otherwise the run's name.
    A mixture would be hard to read.
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
    """Return the facts that both runs have and that differ."""
    both = before.keys() & after.keys()
    return changed_values(
        {path: before[path] for path in both}, {path: after[path] for path in both}
    )


def why_no_change(before: StepBreakdown | None, after: StepBreakdown | None) -> str:
    """Return the reason for a missing verdict."""
    if before is None or after is None:
        return NOT_ENOUGH_STEPS
    counts_differ = (before.examples_per_step is None) != (
        after.examples_per_step is None
    )
    return BOTH_MUST_COUNT if counts_differ else NOT_ENOUGH_STEPS


def stage_seconds(stages: Sequence[StageTime], name: str | None) -> float | None:
    """Return the duration of a stage that has ended."""
    for stage in stages:
        if stage.name == name and stage.state != State.RUNNING:
            return stage.seconds
    return None


def guess_quality(paths: Mapping[str, int]) -> str | None:
    """Choose the most likely quality metric; counts are the number of runs with it."""
    rated = [
        (quality_rank(path), -count, path)
        for path, count in paths.items()
        if quality_rank(path) is not None
    ]
    return min(rated)[-1] if rated else None


def guess_stage(stages: Mapping[str, int]) -> str | None:
    """Choose the stage to compare: a training stage, or else the most frequent one."""
    rated = [
        ("train" not in name.lower(), -count, name) for name, count in stages.items()
    ]
    return min(rated)[-1] if rated else None


def _value(row: AttributeRow | None) -> Value | None:
    return None if row is None else row.value
