"""Reads what the agent measured in one stage of a run, for rules and breakdowns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from tracker.diagnosis.alignment import align
from tracker.diagnosis.measurements import Measurements, Steps
from tracker.diagnosis.signals import SIGNALS, Fact, Kind, Samples, Signal
from tracker.models import Kind as AttributeKind
from tracker.models import Run, Stage
from tracker.queries.attributes import AttributeRow, list_attributes
from tracker.queries.namespaces import monitoring_path
from tracker.queries.series import read_many_points
from tracker.series.points import Points

GPU = re.compile(r"(?:facts/)?gpu/(\d{1,4})/")
GPU_COUNT = "facts/gpu_count"


def read_measurements(
    stage: Stage,
    *,
    sampled: Collection[str] | None = None,
    also_per_step: Callable[[str], bool] = lambda _: False,
) -> Measurements:
    """Read the signals of the stage's first process, whole.

    `sampled` names the sampled signals to read, None meaning all. Series for whose
    paths `also_per_step` is true become columns of that name, with gaps as NaN.
    """
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
    wanted = _series_of_rules(names, gpus) + extra
    points = _read_series(stage.run, prefix, rows, wanted)

    facts = _facts(rows)
    share = stage_share_of_run(stage)
    if share is not None:
        facts["stage_share_of_run"] = share
    return Measurements(
        steps=_steps(points, extra),
        samples={
            signal.name: _samples(points[signal.path])
            for signal in _of_kind(Kind.SAMPLED)
            if signal.path in points
        },
        facts=facts,
        gpus={gpu: _gpu_signals(gpu, points, rows) for gpu in gpus},
        gpu_count=len(gpus) or _gpu_count(rows),
    )


def stage_share_of_run(stage: Stage) -> float | None:
    """Return how much of the time of all stages this one took; None if unknown."""
    now = timezone.now()
    seconds = {
        other.pk: _seconds(other.started_at, other.ended_at, now)
        for other in Stage.objects.filter(run_id=stage.run_id)
    }
    total = sum(seconds.values())
    return seconds.get(stage.pk, 0.0) / total if total > 0 else None


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


def _series_of_rules(names: Collection[str], gpus: list[int]) -> list[str]:
    sampled = [s for s in _of_kind(Kind.SAMPLED) if s.name in names]
    per_gpu = [s for s in _per_gpu(Kind.SAMPLED) if s.name in names]
    return [
        *(signal.path for signal in _of_kind(Kind.PER_STEP)),
        *(signal.path for signal in sampled),
        *(_gpu_path(signal, gpu) for signal in per_gpu for gpu in gpus),
    ]


def _read_series(
    run: Run, prefix: str, rows: dict[str, AttributeRow], wanted: list[str]
) -> dict[str, Points]:
    there = [
        path
        for path in wanted
        if path in rows and rows[path].kind == AttributeKind.FLOAT_SERIES
    ]
    points = read_many_points(run, [prefix + path for path in there])
    return {path: points[prefix + path] for path in there}


def _steps(points: dict[str, Points], extra: list[str]) -> Steps:
    base = points.get(SIGNALS["step_seconds"].path)
    if base is None:
        return Steps.none()
    others = {
        signal.name: points[signal.path]
        for signal in _of_kind(Kind.PER_STEP)
        if signal.path in points and signal.name != "step_seconds"
    }
    return align(
        base, others | {path: points[path] for path in extra if path in points}
    )


def _samples(points: Points) -> Samples:
    points = points.sorted_by_time()
    return Samples(points.times, points.values)


def _facts(rows: dict[str, AttributeRow]) -> dict[str, Fact]:
    facts = {
        signal.name: _fact(rows.get(signal.path)) for signal in _of_kind(Kind.FACT)
    }
    return {
        name: fact
        for name, fact in facts.items()
        if fact is not None and isinstance(fact, str) == SIGNALS[name].is_text
    }


def _fact(row: AttributeRow | None) -> Fact | None:
    if row is None or row.kind == AttributeKind.FLOAT_SERIES:
        return None
    if isinstance(row.value, str):
        return row.value
    if isinstance(row.value, bool) or not isinstance(row.value, int | float):
        return None
    try:
        return float(row.value)
    except OverflowError:
        return None


def _gpu_signals(
    gpu: int, points: dict[str, Points], rows: dict[str, AttributeRow]
) -> dict[str, Samples | Fact]:
    signals: dict[str, Samples | Fact] = {
        signal.name: _samples(points[_gpu_path(signal, gpu)])
        for signal in _per_gpu(Kind.SAMPLED)
        if _gpu_path(signal, gpu) in points
    }
    for signal in _per_gpu(Kind.FACT):
        fact = _fact(rows.get(_gpu_path(signal, gpu)))
        if isinstance(fact, float):
            signals[signal.name] = fact
    return signals


def _gpu_count(rows: dict[str, AttributeRow]) -> int | None:
    count = _fact(rows.get(GPU_COUNT))
    return 0 if isinstance(count, float) and count <= 0 else None
