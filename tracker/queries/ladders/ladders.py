"""The ladders of a project, and one ladder with all of its measurements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from tracker.diagnosis.analysis.quality import QualityChange, compare_learning
from tracker.diagnosis.breakdown.categories import Ledger, grown_most
from tracker.models import Ladder, Rung, State
from tracker.queries.diagnoses.time_breakdowns import run_ledger
from tracker.queries.ladders.breakdown import compare_breakdowns
from tracker.queries.ladders.finding_changes import finding_changes
from tracker.queries.ladders.predictions import (
    LeftGain,
    left_gain,
    outcome_of,
    prediction_of,
)
from tracker.queries.ladders.runs import MeasuredRun, measure_runs
from tracker.queries.ladders.steps import (
    RungView,
    changed_machine,
    changed_values,
    rung_labels,
    stage_seconds,
    why_no_change,
)
from tracker.queries.ladders.verdicts import Change, Climb, climb
from tracker.queries.run.run import may_go_on, may_resume, silent_for


@dataclass(frozen=True, slots=True)
class SummaryRung:
    label: str
    state: str
    silent_for: timedelta | None  # None if it is not running or responds


@dataclass(frozen=True, slots=True)
class LadderSummary:
    id: UUID
    name: str
    created_at: datetime
    rungs: tuple[SummaryRung, ...]  # the baseline first

    @property
    def is_live(self) -> bool:
        return any(rung.state == State.RUNNING for rung in self.rungs)


@dataclass(frozen=True, slots=True)
class LadderView:
    id: UUID
    name: str
    stage: str | None  # the stage whose steps are compared
    stages: tuple[str, ...]  # stages that could be compared
    quality_path: str | None
    quality_paths: tuple[str, ...]
    rungs: tuple[RungView, ...]
    climb: Climb | None
    left: LeftGain | None  # the expected gain of the last run's findings
    may_go_on: bool  # a run is running, or the next one may soon be added
    may_resume: bool  # a run was preempted and may resume


def ladder_summaries(project_id: int) -> list[LadderSummary]:
    """Return a project's ladders, the newest first, in two queries."""
    now = timezone.now()
    ladders = Ladder.objects.filter(project_id=project_id).order_by("-created_at", "id")
    rungs: dict[UUID, list[Rung]] = {}
    shown = Rung.objects.shown().filter(ladder__project_id=project_id)
    for rung in shown.select_related("run"):
        rungs.setdefault(rung.ladder_id, []).append(rung)
    return [
        LadderSummary(
            ladder.id,
            ladder.name,
            ladder.created_at,
            tuple(_summed_up(rungs.get(ladder.id, []), now)),
        )
        for ladder in ladders
    ]


def ladder_of_project(project_id: int, ladder_id: UUID) -> Ladder | None:
    """Return a ladder of the project, or None."""
    ladders = Ladder.objects.filter(project_id=project_id, id=ladder_id)
    return ladders.select_related("project__workspace").first()


def _summed_up(rungs: Sequence[Rung], now: datetime) -> list[SummaryRung]:
    labels = rung_labels([(rung.note, rung.run.name) for rung in rungs])
    return [
        SummaryRung(label, rung.run.state, silent_for(rung.run, now=now))
        for label, rung in zip(labels, rungs, strict=True)
    ]


def ladder_rungs(ladder: Ladder) -> list[Rung]:
    """Return the steps of the ladder in order with their runs, except trashed runs."""
    rungs = Rung.objects.shown().filter(ladder=ladder)
    return list(rungs.select_related("run__project").order_by("position", "id"))


def read_ladder(
    ladder: Ladder,
    *,
    stage: str | None = None,
    quality: str | None = None,
    only: Collection[UUID] | None = None,
    now: datetime | None = None,
) -> LadderView:
    """Read every step of the ladder; `only` limits them to these runs.

    If the stage or the quality metric is not given, it is guessed.
    """
    now = now or timezone.now()
    selected = ladder_rungs(ladder)
    if only is not None:
        selected = [rung for rung in selected if rung.run_id in only]
    measured = measure_runs(selected, stage=stage, quality=quality, now=now)
    views = tuple(
        _rung(position, measured.runs, measured.stage, now)
        for position in range(len(measured.runs))
    )
    return LadderView(
        id=ladder.id,
        name=ladder.name,
        stage=measured.stage,
        stages=measured.stages,
        quality_path=measured.quality_path,
        quality_paths=measured.quality_paths,
        rungs=views,
        climb=climb(
            (rung.label, rung.against_previous, rung.against_baseline) for rung in views
        ),
        left=left_gain(measured.runs[-1].diagnoses, measured.stage)
        if measured.runs
        else None,
        may_go_on=any(may_go_on(run.run, now=now) for run in measured.runs),
        may_resume=any(may_resume(run.run, now=now) for run in measured.runs),
    )


def _rung(
    position: int, runs: Sequence[MeasuredRun], stage: str | None, now: datetime
) -> RungView:
    """Compare a run with the previous one; the baseline has none."""
    here, before = runs[position], runs[position - 1] if position else None
    against_previous = _change(before, here)
    changes = finding_changes(before.diagnoses if before else None, here.diagnoses)
    predicted = prediction_of(before.diagnoses, stage, changes) if before else None
    return RungView(
        position=position,
        run_id=here.run.id,
        run_name=here.run.name,
        state=here.run.state,
        note=here.note,
        label=here.label,
        total_seconds=here.seconds,
        stages=here.stages,
        params=changed_values(before.params, here.params) if before else (),
        machine=changed_machine(before.machine, here.machine) if before else (),
        breakdown=here.breakdown,
        against_previous=against_previous,
        against_baseline=_change(runs[0], here) if before else None,
        why_no_change=why_no_change(before.breakdown, here.breakdown)
        if before and against_previous is None
        else "",
        gpu_count=here.gpu_count,
        quality=here.quality,
        quality_before=before.quality if before else None,
        is_diagnosed=bool(here.diagnoses),
        findings=changes,
        predicted=predicted,
        outcome=outcome_of(predicted, against_previous),
        learned=_learned(before, here),
        utilization=here.utilization,
        ledger=run_ledger((d.ledger for d in here.diagnoses), here.run.project),
        stage_seconds=(
            stage_seconds(before.stages, stage) if before else None,
            stage_seconds(here.stages, stage),
        ),
        stage_grown=grown_most(_ledger(before, stage), _ledger(here, stage)),
        stage_steps=here.stage_steps,
        silent_for=silent_for(here.run, now=now),
    )


def _ledger(run: MeasuredRun | None, stage: str | None) -> Ledger | None:
    found = (d.ledger for d in run.diagnoses if d.stage == stage) if run else ()
    return next(iter(found), None)


def _learned(before: MeasuredRun | None, after: MeasuredRun) -> QualityChange | None:
    if before is None or before.learning is None or after.learning is None:
        return None
    return compare_learning(before.learning, after.learning)


def _change(before: MeasuredRun | None, after: MeasuredRun) -> Change | None:
    if before is None or before.breakdown is None or after.breakdown is None:
        return None
    return compare_breakdowns(before.breakdown, after.breakdown)
