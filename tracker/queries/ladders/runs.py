"""The measurements of a ladder's runs, before they are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q

from tracker.diagnosis.breakdown.step import StepBreakdown
from tracker.diagnosis.signals import EarlierRun
from tracker.models import Attribute, Kind, Run, Rung, Stage, State
from tracker.queries.diagnoses.diagnoses import StageDiagnosis, diagnoses_of_runs
from tracker.queries.diagnoses.earlier_runs import read_learning
from tracker.queries.hardware.utilization import Utilization, utilization_of
from tracker.queries.ladders.breakdown import stage_breakdown
from tracker.queries.ladders.steps import (
    StageTime,
    guess_quality,
    guess_stage,
    rung_labels,
)
from tracker.queries.run.attributes import IS_PARAMETER, AttributeRow, attribute_values
from tracker.queries.run.namespaces import (
    MONITORING,
    PARAMS,
    STEP_SECONDS,
    monitoring_path,
)
from tracker.queries.runs.columns import run_seconds

GPU_COUNT, CORES = "facts/gpu_count", "facts/effective_cores"
# Facts that identify the machine; if they differ, the comparison is not fair.
MACHINE_FACTS = (
    "facts/host",
    CORES,
    GPU_COUNT,
    "facts/gpu/0/name",
)
QUALITY_PATHS_AT_MOST = 200

Rows = Mapping[str, AttributeRow]


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run of a ladder; `machine` are facts about the machine of the compared stage."""

    run: Run
    note: str
    label: str
    seconds: float | None
    stages: tuple[StageTime, ...]
    breakdown: StepBreakdown | None
    diagnoses: list[StageDiagnosis]
    params: Rows
    machine: Rows
    quality: AttributeRow | None
    learning: EarlierRun | None  # its losses, with their steps
    utilization: Utilization
    stage_steps: int | None

    @property
    def gpu_count(self) -> int | None:
        row = self.machine.get(GPU_COUNT)
        return row.value if row and isinstance(row.value, int) else None


@dataclass(frozen=True, slots=True)
class MeasuredRuns:
    """The runs of a ladder, and the stage and quality metric that were read."""

    runs: list[MeasuredRun]
    stage: str | None
    stages: tuple[str, ...]
    quality_path: str | None
    quality_paths: tuple[str, ...]


def measure_runs(
    rungs: Sequence[Rung], *, stage: str | None, quality: str | None, now: datetime
) -> MeasuredRuns:
    """Read the runs; a stage or quality metric that none of them has is guessed."""
    run_ids = [rung.run_id for rung in rungs]
    times = _stage_times(run_ids, now)
    stages = _stages_with_steps(run_ids, times)
    qualities = _quality_paths(run_ids)
    if stage not in stages:
        stage = guess_stage(stages)
    if quality not in qualities:
        quality = guess_quality(qualities)

    values = attribute_values(run_ids, _required_paths(run_ids, stage, quality))
    labels = rung_labels([(rung.note, rung.run.name) for rung in rungs])
    machines = {run_id: _machine(values[run_id], stage) for run_id in run_ids}
    busy = _utilization(rungs, stage, machines)
    diagnoses = diagnoses_of_runs(run_ids)
    runs = [
        MeasuredRun(
            run=rung.run,
            note=rung.note,
            label=label,
            seconds=run_seconds(rung.run, now),
            stages=tuple(times.get(rung.run_id, ())),
            breakdown=stage_breakdown(rung.run, stage) if stage else None,
            diagnoses=diagnoses[rung.run_id],
            params=_params(values[rung.run_id]),
            machine=machines[rung.run_id],
            quality=values[rung.run_id].get(quality or ""),
            learning=read_learning(rung.run, stage) if stage else None,
            utilization=busy.get(rung.run_id, Utilization()),
            stage_steps=_step_count(values[rung.run_id], stage),
        )
        for rung, label in zip(rungs, labels, strict=True)
    ]
    return MeasuredRuns(runs, stage, tuple(stages), quality, tuple(sorted(qualities)))


def _params(values: Rows) -> Rows:
    return {path: row for path, row in values.items() if row.is_parameter}


def _machine(values: Rows, stage: str | None) -> Rows:
    if stage is None:
        return {}
    paths = {fact: monitoring_path(stage, fact) for fact in MACHINE_FACTS}
    return {fact: values[path] for fact, path in paths.items() if path in values}


def _step_count(values: Rows, stage: str | None) -> int | None:
    steps = values.get(monitoring_path(stage, STEP_SECONDS)) if stage else None
    return steps.count if steps else None


def _utilization(
    rungs: Sequence[Rung], stage: str | None, machines: Mapping[UUID, Rows]
) -> dict[UUID, Utilization]:
    if stage is None:
        return {}
    cores = {run_id: _number(facts.get(CORES)) for run_id, facts in machines.items()}
    return utilization_of([rung.run for rung in rungs], stage, cores)


def _number(row: AttributeRow | None) -> float | None:
    value = row.value if row else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if value > 0 else None


def _stage_times(run_ids: Sequence[UUID], now: datetime) -> dict[UUID, list[StageTime]]:
    stages = Stage.objects.filter(run__in=run_ids).order_by(
        F("started_at").asc(nulls_last=True), "id"
    )
    times: dict[UUID, list[StageTime]] = {}
    for stage in stages:
        end = stage.ended_at or (now if stage.state == State.RUNNING else None)
        seconds = None
        if stage.started_at is not None and end is not None:
            seconds = max(0.0, (end - stage.started_at).total_seconds())
        time = StageTime(stage.name, stage.state, stage.started_at, seconds)
        times.setdefault(stage.run_id, []).append(time)
    return times


def _stages_with_steps(
    run_ids: Sequence[UUID], times: Mapping[UUID, Sequence[StageTime]]
) -> dict[str, int]:
    """Return the stages with timed steps, and in how many runs."""
    names = dict.fromkeys(stage.name for found in times.values() for stage in found)
    paths = {monitoring_path(name, STEP_SECONDS): name for name in names}
    counts = _run_counts(run_ids, path__in=list(paths))
    return {name: counts[path] for path, name in paths.items() if path in counts}


def _quality_paths(run_ids: Sequence[UUID]) -> dict[str, int]:
    """Return possible quality metrics, and in how many runs each occurs."""
    counts = _run_counts(
        run_ids, ~IS_PARAMETER, kind__in=[Kind.FLOAT_SERIES, Kind.FLOAT]
    )
    most_runs_first = sorted(
        (-count, path)
        for path, count in counts.items()
        if not path.startswith((MONITORING, PARAMS))
    )
    return {path: -count for count, path in most_runs_first[:QUALITY_PATHS_AT_MOST]}


# Any: conditions of Django's filter.
def _run_counts(run_ids: Sequence[UUID], *where: Q, **filters: Any) -> dict[str, int]:
    attributes = Attribute.objects.filter(*where, run__in=run_ids, **filters)
    rows = attributes.order_by().values("path").annotate(runs=Count("run"))
    return {row["path"]: row["runs"] for row in rows}


def _required_paths(
    run_ids: Sequence[UUID], stage: str | None, quality: str | None
) -> list[str]:
    params = Attribute.objects.filter(IS_PARAMETER, run__in=run_ids)
    paths = list(params.order_by().values_list("path", flat=True).distinct())
    if quality:
        paths.append(quality)
    if stage:
        required = (*MACHINE_FACTS, STEP_SECONDS)
        paths += [monitoring_path(stage, path) for path in required]
    return paths
