"""What one rung of a ladder changed against the rung before (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tracker.diagnosis.breakdown import StepBreakdown
from tracker.diagnosis.finding import Gain
from tracker.queries.attributes import AttributeRow, Value
from tracker.queries.comparison import same
from tracker.queries.diagnoses import FindingView, StageDiagnosis
from tracker.queries.metrics import quality_rank
from tracker.queries.verdicts import NOT_ENOUGH_STEPS, Change

LONGEST_LABEL = 48
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
class RungFinding:
    stage: str
    rule: str
    title: str
    severity: str
    is_primary: bool


@dataclass(frozen=True, slots=True)
class FindingChanges:
    """Findings against the rung before.

    A rule that was not asked, or lacked signals, makes nothing new and nothing gone:
    `found` were not looked for before, `unjudged` could not be looked for again.
    """

    gone: tuple[RungFinding, ...] = ()
    new: tuple[RungFinding, ...] = ()
    kept: tuple[RungFinding, ...] = ()
    found: tuple[RungFinding, ...] = ()
    unjudged: tuple[RungFinding, ...] = ()


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the main finding of the rung before promised to whoever fixes it."""

    rule: str
    title: str
    bound: float
    likely: float


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


def finding_changes(
    before: Sequence[StageDiagnosis] | None, after: Sequence[StageDiagnosis]
) -> FindingChanges:
    """Compare findings by stage and rule; `before` is None for the baseline."""
    had = {} if before is None else _open_findings(before)
    has = _open_findings(after)
    was_healthy = set() if before is None else _healthy(before)
    is_healthy = _healthy(after)
    return FindingChanges(
        gone=tuple(had[key] for key in had if key not in has and key in is_healthy),
        new=tuple(has[key] for key in has if key in was_healthy and key not in had),
        kept=tuple(has[key] for key in has if key in had),
        found=tuple(has[k] for k in has if k not in had and k not in was_healthy),
        unjudged=tuple(
            had[key] for key in had if key not in has and key not in is_healthy
        ),
    )


def prediction_of(
    diagnoses: Sequence[StageDiagnosis], stage: str | None
) -> Prediction | None:
    """Return what a stage's primary finding is worth, if it says so."""
    for diagnosis in diagnoses:
        for finding in diagnosis.findings:
            if diagnosis.stage == stage and finding.is_primary:
                return _prediction(finding, finding.gain)
    return None


def why_no_change(before: StepBreakdown | None, after: StepBreakdown | None) -> str:
    """Say why there is no verdict."""
    if before is None or after is None:
        return NOT_ENOUGH_STEPS
    counts_differ = (before.examples_per_step is None) != (
        after.examples_per_step is None
    )
    return BOTH_MUST_COUNT if counts_differ else NOT_ENOUGH_STEPS


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


def _open_findings(
    diagnoses: Sequence[StageDiagnosis],
) -> dict[tuple[str, str], RungFinding]:
    found: dict[tuple[str, str], RungFinding] = {}
    for diagnosis in diagnoses:
        for cause in diagnosis.findings:
            for finding in (cause, *cause.symptoms):
                key = (diagnosis.stage, finding.rule)
                found.setdefault(
                    key,
                    RungFinding(
                        stage=diagnosis.stage,
                        rule=finding.rule,
                        title=finding.title,
                        severity=finding.severity,
                        is_primary=finding.is_primary,
                    ),
                )
    return found


def _healthy(diagnoses: Sequence[StageDiagnosis]) -> set[tuple[str, str]]:
    return {
        (diagnosis.stage, rule.name)
        for diagnosis in diagnoses
        for rule in diagnosis.healthy
    }


def _prediction(finding: FindingView, gain: Gain | None) -> Prediction | None:
    if gain is None:
        return None
    return Prediction(finding.rule, finding.title, gain.bound, gain.likely)
