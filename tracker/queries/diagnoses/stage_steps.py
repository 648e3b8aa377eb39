"""Reads the steps of a stage's first process, and the phases inside and outside of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tracker.diagnosis.analysis.alignment import align, split_phase
from tracker.diagnosis.engine.finding import MEASURED
from tracker.diagnosis.engine.measurements import Steps
from tracker.diagnosis.signals import SIGNALS, Array, Kind, Samples
from tracker.models import Kind as AttributeKind
from tracker.models import Run
from tracker.queries.diagnoses.signal_paths import (
    of_stage,
    phase_paths,
    request_part_paths,
)
from tracker.queries.run.attributes import AttributeRow
from tracker.queries.series.series import read_and_take
from tracker.series.points import Points

BASE = SIGNALS["step_seconds"]


@dataclass(frozen=True, slots=True, eq=False)
class StageSteps:
    """`spans` are phases outside of steps, `request_parts` phases within requests."""

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
    """Read all steps; series of the paths in `extra` become columns of that name.

    Steps are not thinned, because the time breakdown adds them up; each series needs memory for
    one number per step.
    """
    phases = phase_paths(rows) if with_phases else {}
    names = {name for signal, name in phases.values() if signal == "phase_seconds"}
    parts = request_part_paths(rows, names)
    columns = {signal.name: signal.path for signal in of_stage(Kind.PER_STEP)}
    columns |= {path: path for path in extra}
    # The steps come first, because all other series are aligned to them.
    selected = dict.fromkeys([BASE.path, *columns.values(), *phases, *parts])
    beside = _read_beside_steps(
        run, prefix, rows, selected, phases.keys() | parts.keys()
    )

    base = beside.steps
    inside, spans = _phases(beside, phases)
    aligned = Steps.none()
    if len(base):
        known = beside.columns
        found = {name: known[path] for name, path in columns.items() if path in known}
        aligned = Steps(base.steps, base.times, found, inside)
    return StageSteps(
        steps=aligned, spans=spans, request_parts=_request_parts(beside, parts)
    )


@dataclass(slots=True, eq=False)
class _Beside:
    """Per-step values of series, and the parts of phases outside of steps, by path."""

    prefix: str
    # Paths of phases and of their parts.
    of_phases: Collection[str]
    steps: Points = field(default_factory=Points.empty)
    columns: dict[str, Array] = field(default_factory=dict)
    outside: dict[str, Points] = field(default_factory=dict)

    def take(self, path: str, points: Points) -> None:
        path = path.removeprefix(self.prefix)
        if path == BASE.path:
            self.steps = points.sorted_by_time()
            self.columns[BASE.path] = self.steps.values
        elif path in self.of_phases:
            self.columns[path], self.outside[path] = split_phase(self.steps, points)
        elif len(self.steps):
            self.columns[path] = align(self.steps, {path: points}).columns[path]


def _read_beside_steps(
    run: Run,
    prefix: str,
    rows: Mapping[str, AttributeRow],
    paths: Iterable[str],
    of_phases: Collection[str],
) -> _Beside:
    series = AttributeKind.FLOAT_SERIES
    there = [path for path in paths if path in rows and rows[path].kind == series]
    beside = _Beside(prefix, of_phases)
    read_and_take(run, [prefix + path for path in there], beside.take)
    return beside


def _phases(
    beside: _Beside, phases: Mapping[str, tuple[str, str]]
) -> tuple[dict[str, dict[str, Array]], dict[str, Samples]]:
    """Return the phases of steps by signal and name, and the phases outside of steps."""
    inside: dict[str, dict[str, Array]] = {}
    spans: dict[str, Samples] = {}
    for path, (signal, name) in phases.items():
        if path not in beside.outside:
            continue
        in_steps, rest = beside.columns[path], beside.outside[path]
        if np.any(np.isfinite(in_steps)):
            inside.setdefault(signal, {})[name] = in_steps
        if len(rest) and signal == "phase_seconds":
            spans[name] = _samples(rest)
    return inside, spans


def _request_parts(
    beside: _Beside, parts: Mapping[str, tuple[str, str]]
) -> dict[str, Samples]:
    """Return the parts by name, merged over all kinds of requests."""
    found: dict[str, list[Points]] = {}
    for path, (_, part) in parts.items():
        if path in beside.outside:
            found.setdefault(part, []).append(beside.outside[path])
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
