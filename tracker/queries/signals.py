"""Reads what the agent measured in one stage of a run, for rules and breakdowns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import numpy as np
from django.db.models import Q
from django.utils import timezone

from tracker.diagnosis.alignment import align, split_phase
from tracker.diagnosis.finding import MEASURED
from tracker.diagnosis.measurements import Measurements, Steps
from tracker.diagnosis.signals import (
    SIGNALS,
    Array,
    Fact,
    Kind,
    Ranks,
    Samples,
    Signal,
)
from tracker.diagnosis.signals.signal import USUAL_QUALITY
from tracker.models import Kind as AttributeKind
from tracker.models import Run, Spool, Stage, State
from tracker.queries.attributes import AttributeRow, list_attributes
from tracker.queries.best_rates import best_read_rate
from tracker.queries.earlier_gpu_use import facts_of_earlier_runs
from tracker.queries.earlier_runs import read_earlier, read_same_stages
from tracker.queries.losses import read_losses
from tracker.queries.namespaces import monitoring_path
from tracker.queries.ranks import read_ranks
from tracker.queries.series import read_many_points
from tracker.queries.thinned import Thinned, read_thinned
from tracker.series.points import Points

GPU = re.compile(r"(?:facts/)?gpu/(\d{1,4})/")
GPU_COUNT = "facts/gpu_count"
READINGS = "facts/readings"
SERIES = AttributeKind.FLOAT_SERIES

# Where a line of readings, after its path, says how good they are.
QUALITY = 2

# The windows of a stage that runs are the newest five minutes.
LIVE_SECONDS = 360.0

# Names of phases are made up by scripts.
MOST_PHASES = 64


def read_measurements(
    stage: Stage,
    *,
    sampled: Collection[str] | None = None,
    also_per_step: Callable[[str], bool] = lambda _: False,
) -> Measurements:
    """Read the signals of the stage's first process, and all ranks' steps.

    Steps are read whole, long series of readings thinned.

    `sampled` names the sampled signals to read, None meaning all there is. Series for
    whose paths `also_per_step` is true become columns of that name, gaps as NaN.
    """
    is_all = sampled is None
    prefix = monitoring_path(stage.name)
    # Of other processes there may be very many.
    is_first = ~Q(path__startswith=f"{prefix}rank-")
    rows = {
        row.path.removeprefix(prefix): row
        for row in list_attributes(stage.run, prefix=prefix, where=is_first)
    }
    gpus = _gpu_numbers(rows)
    extra = [path for path in rows if also_per_step(path)]
    names = SIGNALS.keys() if sampled is None else set(sampled)
    phases = _phase_paths(rows) if is_all else {}
    per_step = [signal.path for signal in _of_kind(Kind.PER_STEP)]
    points = _read_series(stage.run, prefix, rows, per_step + extra + [*phases])
    readings = _read_readings(stage, prefix, rows, _sampled_paths(names, gpus))

    qualities = _qualities(rows.get(READINGS))
    steps, spans = _steps(points, extra, phases)
    signals = {gpu: _gpu_signals(gpu, readings, rows, qualities) for gpu in gpus}
    facts = _facts(rows)
    if is_all:
        facts |= _facts_of_stage(stage)
        facts |= _of_other_runs(stage, facts.get("host"))
        facts |= facts_of_earlier_runs(stage, _memory_bytes(signals.values()))
    return Measurements(
        steps=steps,
        samples={
            signal.name: _readings(readings[signal.path], qualities.get(signal.path))
            for signal in _of_kind(Kind.SAMPLED)
            if signal.path in readings
        },
        facts=facts,
        gpus=signals,
        gpu_count=len(gpus) or _gpu_count(rows),
        spans=spans,
        losses=read_losses(stage) if is_all else {},
        ranks=read_ranks(stage, steps) if is_all else Ranks(),
        earlier=read_earlier(stage, _number(facts.get("world_size"))) if is_all else {},
    )


def _number(fact: Fact | None) -> float | None:
    return fact if isinstance(fact, int | float) else None


def _facts_of_stage(stage: Stage) -> dict[str, Fact]:
    now = timezone.now()
    stages = list(Stage.objects.filter(run_id=stage.run_id))
    is_running = stage.state == State.RUNNING
    facts: dict[str, Fact | None] = {
        "stage_name": stage.name,
        "stage_state": str(stage.state),
        "stage_share_of_run": _share(stage, stages, now),
        "stage_seconds": _seconds(stage.started_at, stage.ended_at, now) or None,
        "gap_before_stage_seconds": _gap_before(stage, stages),
        "logging_ranks": _logging_ranks(stage),
        "silent_seconds": (
            _seconds(stage.run.last_seen_at, None, now) if is_running else None
        ),
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _logging_ranks(stage: Stage) -> float | None:
    ranks = Spool.objects.filter(stage_id=stage.pk).values_list("rank", flat=True)
    return float(len(set(ranks))) or None


def _of_other_runs(stage: Stage, host: Fact | None) -> dict[str, Fact]:
    best = best_read_rate(stage, host) if isinstance(host, str) else None
    rates = {} if best is None else {"best_read_bytes_per_second": best}
    return {**read_same_stages(stage), **rates}


def _share(stage: Stage, stages: Iterable[Stage], now: datetime) -> float | None:
    """Return how much of the time of all stages this one took; None if unknown."""
    seconds = {
        other.pk: _seconds(other.started_at, other.ended_at, now) for other in stages
    }
    total = sum(seconds.values())
    return seconds.get(stage.pk, 0.0) / total if total > 0 else None


def _gap_before(stage: Stage, stages: Iterable[Stage]) -> float | None:
    """Return the time since all stages before had ended; None if some had not."""
    started = stage.started_at
    if started is None:
        return None
    before = [s.ended_at for s in stages if s.started_at and s.started_at < started]
    ends = [end for end in before if end is not None]
    if not ends or len(ends) < len(before):
        return None
    return max(0.0, (started - max(ends)).total_seconds())


def _seconds(
    started_at: datetime | None, ended_at: datetime | None, now: datetime
) -> float:
    if started_at is None:
        return 0.0
    return max(0.0, ((ended_at or now) - started_at).total_seconds())


def _of_kind(kind: Kind) -> Iterable[Signal]:
    """Return the signals of the whole stage that are read from a path."""
    return (
        signal
        for signal in SIGNALS.values()
        if signal.kind is kind and signal.path and not signal.is_per_gpu
    )


def _per_gpu(kind: Kind) -> Iterable[Signal]:
    return (s for s in SIGNALS.values() if s.kind is kind and s.is_per_gpu)


def _gpu_path(signal: Signal, gpu: int) -> str:
    return signal.path.replace("<i>", str(gpu))


def _gpu_numbers(paths: Iterable[str]) -> list[int]:
    found = (GPU.match(path) for path in paths)
    return sorted({int(match[1]) for match in found if match})


def _sampled_paths(names: Collection[str], gpus: list[int]) -> list[str]:
    sampled = [s for s in _of_kind(Kind.SAMPLED) if s.name in names]
    per_gpu = [s for s in _per_gpu(Kind.SAMPLED) if s.name in names]
    return [
        *(signal.path for signal in sampled),
        *(_gpu_path(signal, gpu) for signal in per_gpu for gpu in gpus),
    ]


def _read_series(
    run: Run, prefix: str, rows: dict[str, AttributeRow], wanted: list[str]
) -> dict[str, Points]:
    there = [path for path in wanted if path in rows and rows[path].kind == SERIES]
    points = read_many_points(run, [prefix + path for path in there])
    return {path: points[prefix + path] for path in there}


def _read_readings(
    stage: Stage, prefix: str, rows: dict[str, AttributeRow], wanted: list[str]
) -> dict[str, Thinned]:
    """Read what was sampled, thinned where there is much; of late all, while it runs."""
    there = [path for path in wanted if path in rows and rows[path].kind == SERIES]
    whole_seconds = LIVE_SECONDS if stage.state == State.RUNNING else 0.0
    found = read_thinned(
        stage.run, [prefix + path for path in there], whole_seconds=whole_seconds
    )
    return {path: found[prefix + path] for path in there if prefix + path in found}


def _phase_paths(rows: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the signal and the phase's name of each path that times a phase."""
    found: dict[str, tuple[str, str]] = {}
    for signal in _of_kind(Kind.PHASES):
        start, _, end = signal.path.partition("<name>")
        paths = sorted(p for p in rows if p.startswith(start) and p.endswith(end))
        for path in paths[:MOST_PHASES]:
            found[path] = signal.name, path.removeprefix(start).removesuffix(end)
    return found


def _steps(
    points: dict[str, Points], extra: list[str], phases: dict[str, tuple[str, str]]
) -> tuple[Steps, dict[str, Samples]]:
    """Return the steps with their phases, and what phases ran outside of steps."""
    base = points.get(SIGNALS["step_seconds"].path, Points.empty())
    inside: dict[str, dict[str, Array]] = {}
    spans: dict[str, Samples] = {}
    for path, (signal, name) in phases.items():
        if path not in points:
            continue
        in_steps, rest = split_phase(base, points[path])
        if np.any(np.isfinite(in_steps)):
            inside.setdefault(signal, {})[name] = in_steps
        if len(rest) and signal == "phase_seconds":
            spans[name] = _samples(rest, MEASURED)
    if not len(base):
        return Steps.none(), spans
    others = {
        signal.name: points[signal.path]
        for signal in _of_kind(Kind.PER_STEP)
        if signal.path in points and signal.name != "step_seconds"
    }
    aligned = align(
        base, others | {path: points[path] for path in extra if path in points}
    )
    return replace(aligned, phases=inside), spans


def _samples(points: Points, quality: float) -> Samples:
    points = points.sorted_by_time()
    return Samples(points.times, points.values, quality)


def _readings(thinned: Thinned, quality: float | None = None) -> Samples:
    points = thinned.points.sorted_by_time()
    return Samples(
        points.times,
        points.values,
        quality or USUAL_QUALITY,
        thinned.interval_seconds,
    )


def _qualities(readings: AttributeRow | None) -> dict[str, float]:
    """Return how good the run says its readings are, by path with `<i>`."""
    text = readings.value if readings is not None else ""
    found: dict[str, float] = {}
    for line in text.splitlines() if isinstance(text, str) else ():
        path, *rest = line.split("\t")
        with suppress(IndexError, ValueError):
            quality = float(rest[QUALITY])
            if 0.0 < quality <= 1.0:
                found[path] = quality
    return found


def _facts(rows: dict[str, AttributeRow]) -> dict[str, Fact]:
    facts = {
        signal.name: _fact(signal, rows.get(signal.path))
        for signal in _of_kind(Kind.FACT)
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _fact(signal: Signal, row: AttributeRow | None) -> Fact | None:
    """Return None for what is not of the signal's type."""
    value = None if row is None or row.kind == SERIES else row.value
    if signal.is_text:
        value = ", ".join(value) if isinstance(value, list) else value
        return value if isinstance(value, str) else None
    if not isinstance(value, int | float) or isinstance(value, bool) != signal.is_flag:
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _gpu_signals(
    gpu: int,
    readings: dict[str, Thinned],
    rows: dict[str, AttributeRow],
    qualities: dict[str, float],
) -> dict[str, Samples | Fact]:
    signals: dict[str, Samples | Fact] = {
        signal.name: _readings(
            readings[_gpu_path(signal, gpu)], qualities.get(signal.path)
        )
        for signal in _per_gpu(Kind.SAMPLED)
        if _gpu_path(signal, gpu) in readings
    }
    for signal in _per_gpu(Kind.FACT):
        fact = _fact(signal, rows.get(_gpu_path(signal, gpu)))
        if fact is not None:
            signals[signal.name] = fact
    return signals


def _memory_bytes(gpus: Iterable[Mapping[str, Samples | Fact]]) -> list[float]:
    totals = [signals.get("gpu_memory_total_bytes") for signals in gpus]
    return [total for total in totals if isinstance(total, float)]


def _gpu_count(rows: dict[str, AttributeRow]) -> int | None:
    row = rows.get(GPU_COUNT)
    count = None if row is None or row.kind == SERIES else row.value
    return 0 if isinstance(count, int) and count <= 0 else None
