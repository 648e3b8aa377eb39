"""Utilization over the duration of a stage, divided into a few parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from tracker.models import Attribute, Kind, Run
from tracker.queries.run.attributes import beginning_with
from tracker.queries.run.namespaces import monitoring_path
from tracker.queries.series.series import Axis, Line, read_lines

# Fits the width of a phone and still shows a slow epoch.
PARTS = 60
GPU_START, GPU_END = "gpu/", "/utilization_percent"
CPU = "job/cpu_cores"
WHOLE = 100.0

# Percent per part; None if nothing was measured.
Strip = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Utilization:
    """Mean over the GPUs, and over the cores the job may use; empty if unknown."""

    gpu: Strip = ()
    cpu: Strip = ()


def utilization_of(
    runs: Sequence[Run], stage: str, cores: Mapping[UUID, float | None]
) -> dict[UUID, Utilization]:
    """Read the utilization of a stage in many runs, with a constant number of statements."""
    prefix = monitoring_path(stage)
    by_id = {run.id: run for run in runs}
    rows = Attribute.objects.filter(
        beginning_with(prefix), run_id__in=list(by_id), kind=Kind.FLOAT_SERIES
    ).values_list("run_id", "path")
    selected = [
        (run_id, path)
        for run_id, path in rows
        if (below := path.removeprefix(prefix)) == CPU or _is_gpu(below)
    ]
    lines = read_lines(
        [(by_id[run_id], path) for run_id, path in selected],
        axis=Axis.TIME,
        buckets=PARTS,
    )
    gpus: dict[UUID, list[Line]] = {}
    cpus: dict[UUID, list[Line]] = {}
    for (run_id, path), line in zip(selected, lines, strict=True):
        group = cpus if path.endswith(CPU) else gpus
        group.setdefault(run_id, []).append(line)
    return {
        run_id: Utilization(
            gpu=strip(gpus.get(run_id, ())),
            cpu=strip(cpus.get(run_id, ()), scale=WHOLE / available)
            if (available := cores.get(run_id))
            else (),
        )
        for run_id in by_id
    }


def strip(lines: Sequence[Line], *, scale: float = 1.0) -> Strip:
    """Average lines over equal parts of the time from the first point to the last."""
    x = np.concatenate([line.x for line in lines]) if lines else np.empty(0)
    if not x.size:
        return ()
    values = np.concatenate([line.mean for line in lines]) * scale
    low, high = float(x.min()), float(x.max())
    if not high > low:
        high = low + 1
    parts = np.minimum((PARTS * (x - low) / (high - low)).astype(int), PARTS - 1)
    known = np.isfinite(values)
    counts = np.bincount(parts[known], minlength=PARTS)
    sums = np.bincount(parts[known], weights=values[known], minlength=PARTS)
    return _filled(
        [
            float(np.clip(total / count, 0.0, WHOLE)) if count else None
            for total, count in zip(sums, counts, strict=True)
        ],
        reach=-(-PARTS // max(1, len(lines[0].x) - 1)),
    )


def _filled(parts: list[float | None], *, reach: int) -> Strip:
    """Extend sparse points up to the next one, at most by their spacing."""
    filled: list[float | None] = []
    last, age = None, 0
    for value in parts:
        last, age = (value, 0) if value is not None else (last, age + 1)
        filled.append(last if age <= reach else None)
    return tuple(filled)


def _is_gpu(measure: str) -> bool:
    # Each rank samples the GPUs it uses; MIG slices are part of their GPU.
    _, found, rest = measure.rpartition(GPU_START)
    return bool(found) and rest.endswith(GPU_END) and rest.count("/") == 1
