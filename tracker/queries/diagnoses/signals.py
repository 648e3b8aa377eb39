"""Reads the agent's measurements of one stage of a run, for rules and breakdowns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from django.db.models import Q

from tracker.diagnosis.engine.measurements import Measurements, Steps
from tracker.diagnosis.signals import SIGNALS, Fact, Kind, Ranks, Samples
from tracker.models import Stage
from tracker.queries.diagnoses.earlier_gpu_use import facts_of_earlier_runs
from tracker.queries.diagnoses.earlier_runs import read_earlier
from tracker.queries.diagnoses.logged_steps import read_logged_steps
from tracker.queries.diagnoses.losses import (
    read_evaluations,
    read_learning_rates,
    read_losses,
)
from tracker.queries.diagnoses.ranks import read_ranks
from tracker.queries.diagnoses.signal_paths import (
    gpu_numbers,
    gpu_path,
    of_gpus,
    of_stage,
    sampled_paths,
)
from tracker.queries.diagnoses.stage_facts import (
    facts_of_gpu,
    facts_of_other_runs,
    facts_of_stage,
    gpu_count,
    logged_facts,
)
from tracker.queries.diagnoses.stage_steps import read_steps
from tracker.queries.hardware.samples import Readings, read_readings
from tracker.queries.run.attributes import AttributeRow, list_attributes
from tracker.queries.run.namespaces import monitoring_path

# Signals of one GPU by name.
GpuSignals = dict[str, Samples | Fact]


def read_measurements(
    stage: Stage,
    *,
    sampled: Collection[str] | None = None,
    also_per_step: Callable[[str], bool] = lambda _: False,
) -> Measurements:
    """Read the signals of the stage's first process, and all ranks' steps.

    Its own steps are read whole; long series of samples, losses and other ranks' steps
    are thinned.

    `sampled` names the sampled signals to read; None reads all of them. Series whose path
    satisfies `also_per_step` become columns of that name, with NaN for gaps.
    """
    is_all = sampled is None
    prefix = monitoring_path(stage.name)
    # Excludes other ranks, which may have very many series.
    is_first = ~Q(path__startswith=f"{prefix}rank-")
    rows = {
        row.path.removeprefix(prefix): row
        for row in list_attributes(stage.run, prefix=prefix, where=is_first)
    }
    gpus = gpu_numbers(rows)
    names = SIGNALS.keys() if sampled is None else set(sampled)
    measured = read_steps(
        stage.run,
        prefix,
        rows,
        extra=[path for path in rows if also_per_step(path)],
        with_phases=is_all,
    )
    readings = read_readings(stage, rows, sampled_paths(names, gpus))
    signals = {gpu: _of_gpu(gpu, readings, rows) for gpu in gpus}
    facts = logged_facts(rows)
    if is_all:
        facts |= facts_of_stage(stage)
        facts |= facts_of_other_runs(stage, facts.get("host"))
        facts |= facts_of_earlier_runs(stage, _memory_bytes(signals))
    logged = Steps.none()
    if is_all and not len(measured.steps):
        logged, interval = read_logged_steps(stage)
        facts |= {"log_interval_steps": float(interval)} if interval else {}
    return Measurements(
        steps=measured.steps,
        logged_steps=logged,
        samples=readings.of((s, s.path) for s in of_stage(Kind.SAMPLED)),
        facts=facts,
        gpus=signals,
        gpu_count=len(gpus) or gpu_count(rows),
        spans=measured.spans,
        request_parts=measured.request_parts,
        losses=read_losses(stage) if is_all else {},
        evaluations=read_evaluations(stage) if is_all else {},
        learning_rates=read_learning_rates(stage) if is_all else {},
        ranks=read_ranks(stage, measured.steps) if is_all else Ranks(),
        earlier=read_earlier(stage, _number(facts.get("world_size"))) if is_all else {},
    )


def _of_gpu(
    gpu: int, readings: Readings, rows: Mapping[str, AttributeRow]
) -> GpuSignals:
    sampled = readings.of((s, gpu_path(s, gpu)) for s in of_gpus(Kind.SAMPLED))
    return {**sampled, **facts_of_gpu(gpu, rows)}


def _memory_bytes(gpus: Mapping[int, GpuSignals]) -> list[float]:
    totals = [signals.get("gpu_memory_total_bytes") for signals in gpus.values()]
    return [total for total in totals if isinstance(total, float)]


def _number(fact: Fact | None) -> float | None:
    return fact if isinstance(fact, int | float) else None
