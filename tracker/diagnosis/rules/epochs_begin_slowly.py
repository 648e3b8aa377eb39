"""Epochs start slowly.

## Detection
The time between the last step of an epoch and the first step of the next, including the wait
for its first batch. Phases outside of the loop, such as an evaluation, are excluded. If workers
restart, the savings include the excess of the first and last steps of epochs over the median.

## Why it matters
Many loaders end their workers with the epoch. Each epoch then starts processes, imports
modules, opens the dataset and fills its queue again, while the GPU is idle.

## Limitations
An evaluation without a phase looks like a slow start. If the GPU works in that time, or its
load is unknown, the rule abstains; add `with run.phase("evaluate"):` to get an answer.
If only the loader's setting supports the finding, it is less certain.

Catalogue: D13, epoch boundary stall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.epochs import epoch_starts
from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.breakdown.phases import PhaseKind, spans_of_kind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    COARSE,
    MEASURED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import count, duration, percent
from tracker.diagnosis.input.code_lines import lasting_workers_line
from tracker.diagnosis.signals import Array, Samples
from tracker.diagnosis.signals.signal import FLAG

SPAN = Span.STAGE

EVALUATION = "the time of evaluation between epochs, as a phase"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Share of the time from the first step to the last.
    boundary_share: float = 0.03
    boundary_release_share: float = 0.02
    critical_share: float = 0.08
    fewest_boundaries: int = 2

    # A GPU that is busier than this between epochs does work outside of named phases.
    idle_gpu_percent: float = 30.0
    fewest_readings: int = 3
    # A sample covers the second before it.
    reading_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class _Boundaries:
    starts: Array  # of the gaps, in seconds since 1970
    lengths: Array
    named: Array  # seconds of each in phases
    # Time that the first and last steps of epochs take beyond the median step.
    edges_seconds: float
    total_seconds: float

    @property
    def lost(self) -> Array:
        return np.maximum(self.lengths - self.named, 0.0)

    @property
    def share(self) -> float:
        return float(self.lost.sum()) / self.total_seconds


def check(
    step_seconds: Array,
    step_end_seconds: Array,
    gap_before_step_seconds: Array,
    *,
    spans: Mapping[str, Samples] | None = None,
    busiest_gpu_percent: Samples | None = None,
    loader_workers: float | None = None,
    loader_persistent_workers: float | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    boundaries = _find(
        step_seconds, step_end_seconds, gap_before_step_seconds, spans or {}, limits
    )
    limit = limits.boundary_release_share if already_open else limits.boundary_share
    if boundaries is None or boundaries.share < limit:
        return None

    workers = round(loader_workers or 0)
    restarts = workers > 0 and loader_persistent_workers == 0
    gpu_percent = _gpu_between(boundaries, busiest_gpu_percent, limits)
    is_idle = gpu_percent is not None and gpu_percent < limits.idle_gpu_percent
    is_named = (
        spans_of_kind(spans or {}, PhaseKind.EVALUATE, PhaseKind.CHECKPOINT) is not None
    )
    works = gpu_percent is not None and not is_idle
    if (works and not is_named) or not (is_idle or is_named or restarts):
        return Abstention((EVALUATION,))
    return _finding(
        boundaries,
        gpu_percent,
        workers=workers,
        restarts=restarts,
        is_seen=is_idle or is_named,
        framework=framework,
        limits=limits,
    )


def _find(
    step_seconds: Array,
    ends: Array,
    gaps: Array,
    spans: Mapping[str, Samples],
    limits: Limits,
) -> _Boundaries | None:
    rows = epoch_starts(step_seconds, gaps)
    if len(rows) < limits.fewest_boundaries:
        return None
    total = float(ends[-1] - ends[0] + step_seconds[0])
    lengths = gaps[rows]
    starts = ends[rows] - step_seconds[rows] - lengths
    named = np.zeros(len(rows))
    for span in spans.values():
        # A phase belongs to the gap in which it ends, within the error of the step clock.
        place = np.searchsorted(starts, span.times / 1e6, side="right") - 1
        inside = place >= 0
        inside &= span.times / 1e6 <= (starts + lengths + 0.01)[place]
        np.add.at(named, place[inside], span.values[inside])
    if not total > 0:
        return None
    edges = _excess(step_seconds, rows) + _excess(step_seconds, [r - 1 for r in rows])
    return _Boundaries(starts, lengths, named, edges, total)


def _excess(step_seconds: Array, rows: Sequence[int]) -> float:
    """Return the time of these steps beyond the median step; jitter does not count."""
    beyond = float(np.median(step_seconds[rows])) - float(np.median(step_seconds))
    return max(0.0, beyond) * len(rows)


def _gpu_between(
    boundaries: _Boundaries, busiest: Samples | None, limits: Limits
) -> float | None:
    """Return the mean load of the GPU between epochs; None with too few samples."""
    if busiest is None:
        return None
    times = busiest.times / 1e6
    place = np.searchsorted(boundaries.starts, times, side="right") - 1
    starts, lengths = boundaries.starts[place], boundaries.lengths[place]
    # A sample whose second began before the gap also covers steps.
    whole = (place >= 0) & (times <= starts + lengths)
    whole &= times - starts >= limits.reading_seconds
    if whole.sum() < limits.fewest_readings:
        return None
    return float(busiest.values[whole].mean())


def _finding(
    boundaries: _Boundaries,
    gpu_percent: float | None,
    *,
    workers: int,
    restarts: bool,
    is_seen: bool,
    framework: str | None,
    limits: Limits,
) -> Finding:
    lost = float(boundaries.lost.sum())
    # Workers start within the first step of an epoch and end within the last one.
    saved = lost + (boundaries.edges_seconds if restarts else 0.0)
    number = len(boundaries.lengths)
    mean = lost / number
    is_critical = boundaries.share >= limits.critical_share
    why = (
        f" {count(workers, 'worker restarts', 'workers restart')} for each epoch."
        if restarts
        else ""
    )
    return Finding(
        severity=Severity.CRITICAL if is_critical else Severity.WARNING,
        summary=(
            f"Each epoch starts after a pause of {duration(mean)}, outside of"
            f" steps and named phases: {percent(boundaries.share)} of the time in"
            f" {number} pauses.{why}"
        ),
        evidence=_evidence(
            boundaries,
            gpu_percent,
            mean,
            workers=workers,
            restarts=restarts,
            limits=limits,
        ),
        recommendations=_recommendations(workers, framework, restarts=restarts),
        disproof=(
            "Put the code between epochs into phases, such as"
            ' `with run.phase("evaluate"):`: if they take this time, the loader does not.'
        ),
        gain=expected_gain(
            boundaries.total_seconds,
            (Floor(boundaries.total_seconds - saved, "the epochs themselves"),),
            what="Training",
        ),
        quality=MEASURED if is_seen else COARSE,
        margin=margin_above(boundaries.share, limits.boundary_share),
        corroboration=AGREEING if restarts and is_seen else ALONE,
    )


def _evidence(
    boundaries: _Boundaries,
    gpu_percent: float | None,
    mean: float,
    *,
    workers: int,
    restarts: bool,
    limits: Limits,
) -> tuple[Evidence, ...]:
    found = [
        Evidence(
            "gap_before_step_seconds",
            "time between epochs outside phases, share of all time",
            boundaries.share,
            "share",
            limits.boundary_share,
            Side.ABOVE,
            release=limits.boundary_release_share,
        ),
        Evidence("gap_before_step_seconds", "time between two epochs, mean", mean, "s"),
        Evidence(
            "spans", "phases between epochs, total", float(boundaries.named.sum()), "s"
        ),
    ]
    if restarts:
        found.append(
            Evidence("loader_persistent_workers", "persistent workers", 0.0, FLAG)
        )
        found.append(
            Evidence(
                "loader_workers",
                "loader workers",
                workers,
                "processes",
            )
        )
    if gpu_percent is not None:
        found.append(
            Evidence(
                "busiest_gpu_percent",
                "GPU utilization between epochs, mean",
                gpu_percent,
                "%",
                limits.idle_gpu_percent,
                Side.BELOW,
            )
        )
    return tuple(found)


def _recommendations(
    workers: int, framework: str | None, *, restarts: bool
) -> tuple[Recommendation, ...]:
    return (
        Recommendation(
            "Keep the workers alive over all epochs."
            if restarts
            else "Start the data loading once instead of for each epoch.",
            current="workers that end with their epoch" if restarts else "",
            suggested="workers that stay" if restarts else "",
            code=lasting_workers_line(framework, workers),
        ),
        Recommendation(
            "Make the dataset cheap to open: list files once and keep the list; open"
            " large files in the worker when they are first needed."
        ),
        Recommendation(
            "Use an endless stream of examples and count epochs by steps: the queue then"
            " never runs empty."
        ),
    )
