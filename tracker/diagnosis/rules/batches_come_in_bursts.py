"""Batches arrive in bursts.

## Detection
Most steps do not wait for data, but one in five waits long for its batch.

## Why it matters
The loader is fast enough on average: a longer prefetch queue would hide all the waits.

## Limitations
Steps after an evaluation or a checkpoint may wait for other reasons. If most long waits are
next to such a phase, the rule reports nothing.
Workers that are always busy are too slow rather than uneven, and other rules report them.
The same holds for idle workers whose waits repeat with a period equal to the worker count.

Catalogue: D12, bursty loader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.diagnosis.analysis.statistics import margin_above, typical
from tracker.diagnosis.breakdown.phases import PhaseKind, seconds_of_kind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    MEASURED,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import count, duration, percent
from tracker.diagnosis.input.code_lines import prefetch_line
from tracker.diagnosis.input.loading import WAITING_CORES
from tracker.diagnosis.signals import Array, Samples

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    waiting_cores: float = WAITING_CORES

    spikes_share: float = 0.20
    spikes_release_share: float = 0.14
    # A wait is long if it exceeds the larger of these two.
    long_wait_seconds: float = 0.030
    long_wait_of_step: float = 0.30
    # Share of the step; the median wait must not exceed it.
    largest_usual_wait: float = 0.05

    busy_worker_cores: float = 0.80
    # Share of the long waits that may be next to an evaluation or a checkpoint.
    max_beside_others: float = 0.50
    # Relative difference allowed between the period of long waits and the worker count.
    period_within: float = 0.25

    critical_share: float = 0.20
    fewest_steps: int = 10
    usual_prefetch: int = 2
    max_prefetch: int = 8


@dataclass(frozen=True, slots=True)
class _Spikes:
    step_seconds: float  # mean
    share: float  # of steps
    seconds: float  # mean of a long wait
    lost_share: float  # share of time
    period: float | None  # steps between two long waits


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    *,
    phase_seconds: Mapping[str, Array] | None = None,
    loader_workers: float | None = None,
    loader_prefetch_factor: float | None = None,
    worker_cpu_cores: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if len(step_seconds) < limits.fewest_steps:
        return None
    waits = np.minimum(data_wait_seconds, step_seconds)
    typical_step = float(np.median(step_seconds))
    if float(np.median(waits / step_seconds)) >= limits.largest_usual_wait:
        return None
    is_long = waits > max(
        limits.long_wait_seconds, limits.long_wait_of_step * typical_step
    )
    least = limits.spikes_release_share if already_open else limits.spikes_share
    if float(is_long.mean()) < least or _beside_others(is_long, phase_seconds, limits):
        return None
    if (
        worker_cpu_cores is not None
        and typical(worker_cpu_cores) >= limits.busy_worker_cores
    ):
        return None

    spikes = _measure(step_seconds, waits, is_long)
    workers = round(loader_workers) if loader_workers is not None else None
    if (
        _matches(spikes.period, workers, limits)
        and worker_cpu_cores is not None
        and typical(worker_cpu_cores) <= limits.waiting_cores
    ):
        return None
    return _finding(
        spikes,
        workers=workers,
        prefetch=loader_prefetch_factor,
        framework=framework,
        limits=limits,
    )


def _beside_others(
    is_long: Mask, phases: Mapping[str, Array] | None, limits: Limits
) -> bool:
    """Return whether most long waits are in or after a step with another phase."""
    others = seconds_of_kind(
        phases or {}, PhaseKind.EVALUATE, PhaseKind.CHECKPOINT, PhaseKind.LOG
    )
    if others is None:
        return False
    other = others > 0
    if other.all():
        return False  # each step logs
    near = other | np.append(False, other[:-1])
    return float(near[is_long].mean()) > limits.max_beside_others


def _measure(step_seconds: Array, waits: Array, is_long: Mask) -> _Spikes:
    places = np.flatnonzero(is_long)
    between = np.diff(places)
    return _Spikes(
        step_seconds=float(step_seconds.mean()),
        share=float(is_long.mean()),
        seconds=float(waits[is_long].mean()),
        lost_share=float(waits[is_long].sum() / step_seconds.sum()),
        period=float(np.median(between)) if len(between) else None,
    )


def _finding(
    spikes: _Spikes,
    *,
    workers: int | None,
    prefetch: float | None,
    framework: str | None,
    limits: Limits,
) -> Finding:
    in_step = _matches(spikes.period, workers, limits)
    is_critical = spikes.lost_share >= limits.critical_share
    together = (
        f" They come every {count(spikes.period or 0, 'step', 'steps')}, the number of"
        " workers: all workers deliver their batch at about the same time."
        if in_step
        else ""
    )
    return Finding(
        severity=Severity.CRITICAL if is_critical else Severity.WARNING,
        summary=(
            f"{percent(spikes.share)} of the steps wait"
            f" {duration(spikes.seconds)} for their batch; most others do not"
            f" wait. Training loses {percent(spikes.lost_share)} of its time to"
            f" these waits.{together}"
        ),
        evidence=_evidence(spikes, workers, prefetch, limits),
        recommendations=_recommendations(workers, prefetch, framework, limits),
        disproof=(
            "Double the number of prefetched batches: if as many steps wait as long as now,"
            " the loader is too slow rather than uneven."
        ),
        gain=expected_gain(
            spikes.step_seconds,
            (
                Floor(
                    spikes.step_seconds * (1.0 - spikes.lost_share),
                    "steps that do not wait",
                ),
            ),
        ),
        explains=("data-wait-dominates", "steps-are-slow-now-and-then"),
        quality=MEASURED,
        margin=margin_above(spikes.share, limits.spikes_share),
        corroboration=AGREEING if in_step else ALONE,
    )


def _matches(period: float | None, workers: int | None, limits: Limits) -> bool:
    if period is None or not workers or workers <= 1:
        return False
    return abs(period - workers) <= limits.period_within * workers


def _evidence(
    spikes: _Spikes, workers: int | None, prefetch: float | None, limits: Limits
) -> tuple[Evidence, ...]:
    rows = (
        ("data_wait_seconds", "steps with a long wait, share", spikes.share, "share"),
        ("data_wait_seconds", "long waits, mean", spikes.seconds, "s"),
        ("data_wait_seconds", "steps between two long waits", spikes.period, "steps"),
        ("loader_workers", "loader workers", workers, "processes"),
        (
            "loader_prefetch_factor",
            "batches ahead for each worker",
            prefetch,
            "batches",
        ),
    )
    return tuple(
        Evidence(
            signal,
            statistic,
            value,
            unit,
            limits.spikes_share if not row else None,
            Side.ABOVE,
            release=limits.spikes_release_share if not row else None,
        )
        for row, (signal, statistic, value, unit) in enumerate(rows)
        if value is not None
    )


def _recommendations(
    workers: int | None, prefetch: float | None, framework: str | None, limits: Limits
) -> tuple[Recommendation, ...]:
    now = prefetch if prefetch is not None else limits.usual_prefetch
    ahead = int(min(limits.max_prefetch, max(2 * now, 2 * limits.usual_prefetch)))
    known = "" if prefetch is None else count(prefetch, "batch ahead", "batches ahead")
    longer = Recommendation(
        "Keep more batches ready.",
        current=known,
        suggested=f"{ahead} batches ahead for each worker",
        code=prefetch_line(framework, workers or 0, ahead),
    )
    smaller = Recommendation(
        "Balance the cost of examples: crop very large ones, or spread them evenly over"
        " the batches."
    )
    # With a long queue already in place, uneven examples are the likelier cause.
    return (smaller, longer) if now >= limits.max_prefetch else (longer, smaller)
