"""Reads the steps of a stage's first process, and the phases inside and outside of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tracker.diagnosis.alignment import align, split_phase
from tracker.diagnosis.finding import MEASURED
from tracker.diagnosis.measurements import Steps
from tracker.diagnosis.signals import SIGNALS, Array, Kind, Samples
from tracker.models import Kind as AttributeKind
from tracker.models import Run
from tracker.queries.attributes import AttributeRow
from tracker.queries.series import read_many_points
from tracker.queries.signal_paths import of_stage, phase_paths, request_part_paths
from tracker.series.points import Points

BASE = SIGNALS["step_seconds"]


@dataclass(frozen=True, slots=True, eq=False)
class StageSteps:
    """`spans` are phases outside of steps, `request_parts` what was in requests."""

    steps: Steps
    spans: Mapping[str, Samples] = field(default_factory=dict)
    request_parts: Mapping[str, Samples] = field(default_factory=dict)


def read_steps(
    run: Run,
    prefix: str,
    rows: Mapping[str, AttributeRow],
    *,
    extra: Sequence[str] = (),
    with_phases: bool,
) -> StageSteps:
    """Read steps whole; series of the paths in `extra` become columns of that name."""
    phases = phase_paths(rows) if with_phases else {}
    names = {name for signal, name in phases.values() if signal == "phase_seconds"}
    parts = request_part_paths(rows, names)
    per_step = [signal.path for signal in of_stage(Kind.PER_STEP)]
    points = _read_series(run, prefix, rows, [*per_step, *extra, *phases, *parts])

    base = points.get(BASE.path, Points.empty())
    inside, spans = _phases(base, points, phases)
    others = {
        signal.name: points[signal.path]
        for signal in of_stage(Kind.PER_STEP)
        if signal.path in points and signal is not BASE
    }
    others |= {path: points[path] for path in extra if path in points}
    aligned = align(base, others) if len(base) else Steps.none()
    return StageSteps(
        steps=replace(aligned, phases=inside) if len(base) else aligned,
        spans=spans,
        request_parts=_request_parts(base, points, parts),
    )


def _read_series(
    run: Run, prefix: str, rows: Mapping[str, AttributeRow], wanted: Iterable[str]
) -> dict[str, Points]:
    series = AttributeKind.FLOAT_SERIES
    there = [path for path in wanted if path in rows and rows[path].kind == series]
    points = read_many_points(run, [prefix + path for path in there])
    return {path: points[prefix + path] for path in there}


def _phases(
    base: Points, points: Mapping[str, Points], phases: Mapping[str, tuple[str, str]]
) -> tuple[dict[str, dict[str, Array]], dict[str, Samples]]:
    """Return the phases of steps by signal and name, and what ran outside of steps."""
    inside: dict[str, dict[str, Array]] = {}
    spans: dict[str, Samples] = {}
    for path, (signal, name) in phases.items():
        if path not in points:
            continue
        in_steps, rest = split_phase(base, points[path])
        if np.any(np.isfinite(in_steps)):
            inside.setdefault(signal, {})[name] = in_steps
        if len(rest) and signal == "phase_seconds":
            spans[name] = _samples(rest)
    return inside, spans


def _request_parts(
    base: Points, points: Mapping[str, Points], parts: Mapping[str, tuple[str, str]]
) -> dict[str, Samples]:
    """Return the parts by name, those of all kinds of requests together."""
    found: dict[str, list[Points]] = {}
    for path, (_, part) in parts.items():
        if path in points:
            _, outside = split_phase(base, points[path])
            found.setdefault(part, []).append(outside)
    joined = {name: _joined(several) for name, several in found.items()}
    return {name: _samples(part) for name, part in joined.items() if len(part)}


def _joined(several: Sequence[Points]) -> Points:
    return Points(
        np.concatenate([points.steps for points in several]),
        np.concatenate([points.times for points in several]),
        np.concatenate([points.values for points in several]),
    )


def _samples(points: Points) -> Samples:
    points = points.sorted_by_time()
    return Samples(points.times, points.values, MEASURED)
