"""Much of each step is in no phase.

## Detection
Steps in which at least 30 % of the time is neither in a named phase nor a wait for data, while
no GPU works. Time in which the main thread waits for a core is excluded, because other jobs or
too many threads cause it.

## Why it matters
Unnamed time cannot be attributed. It is often metrics, logging, saving or Python code between
the phases, and the GPU is idle meanwhile.

## Limitations
The time may be useful work without a phase: one line of code gives it a name. A script without
a phase around its model is not judged, since all of its work is in no phase; neither is a
script that times its forward pass only.

Catalogue: T9, unaccounted host time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import average, average_or_none, margin_above
from tracker.diagnosis.breakdown.outside import outside_seconds
from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import phase_line
from tracker.diagnosis.engine.speedup import gain_of_share
from tracker.diagnosis.engine.wording import duration, percent, size
from tracker.diagnosis.input.waiting import Waiting, measure_waiting
from tracker.diagnosis.signals import Array, Samples

BESIDE_THE_MODEL = (
    PhaseKind.COPY,
    PhaseKind.COMMUNICATE,
    PhaseKind.LOG,
    PhaseKind.EVALUATE,
    PhaseKind.CHECKPOINT,
    PhaseKind.LOAD_DATA,
    PhaseKind.DECODE,
    PhaseKind.PREPROCESS,
)
UNTIMED = "the time of the backward pass, as a phase"

COMPUTING, WRITING, WAITING, UNCLEAR = "computing", "writing", "waiting", "unclear"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = 0.30
    release_share: float = 0.25
    large_share: float = 0.50
    # Minimum share without the waits for a core, which are not the script's own work.
    own_share: float = 0.15

    # Phases of the model occur in most steps.
    usual_steps_share: float = 0.50
    # Share of the unaccounted time at which it counts as computing or waiting.
    max_of_it_share: float = 0.50
    # A job that writes less is not slowed down by its files.
    notable_write_bytes_per_second: float = 500_000.0


@dataclass(frozen=True, slots=True)
class _Outside:
    """`waiting` is the time in no phase; `share` excludes waits for a core."""

    waiting: Waiting
    share: float
    kind: str
    written: float  # bytes per step
    main_cores: float | None


def check(
    step_seconds: Array,
    *,
    data_wait_seconds: Array | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    busiest_gpu_percent: Samples | None = None,
    job_main_thread_cpu_cores: Samples | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    job_write_bytes_per_second: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    phases = phase_seconds or {}
    if not any(_is_of_the_model(name, times, limits) for name, times in phases.items()):
        return Abstention(("phase_seconds",))
    if not _has_backward(phases):
        return Abstention((UNTIMED,))
    left = outside_seconds(step_seconds, data_wait_seconds, phases)
    waiting = measure_waiting(step_seconds, left, busiest_gpu_percent)
    if waiting is None:
        return None

    without_core = average_or_none(job_main_thread_core_wait_share) or 0.0
    share = waiting.exposed_share
    own_share = share * max(0.0, 1.0 - without_core)
    limit = limits.release_share if already_open else limits.notable_share
    if share < limit or own_share < limits.own_share:
        return None
    cores = average_or_none(job_main_thread_cpu_cores)
    written = average_or_none(job_write_bytes_per_second) or 0.0
    outside = _Outside(
        waiting,
        own_share,
        _kind(waiting, cores, written, limits),
        written * waiting.step_seconds,
        cores,
    )
    return _finding(outside, limits)


def _is_of_the_model(name: str, times: Array, limits: Limits) -> bool:
    if kind_of_phase(name) in BESIDE_THE_MODEL:
        return False
    return average((times > 0).astype(np.float64)) >= limits.usual_steps_share


def _has_backward(phases: Mapping[str, Array]) -> bool:
    """Return False if a script times the forward pass only."""
    kinds = {kind_of_phase(name) for name in phases}
    return PhaseKind.FORWARD not in kinds or PhaseKind.BACKWARD in kinds


def _kind(waiting: Waiting, cores: float | None, written: float, limits: Limits) -> str:
    """Return the activity of the main thread, from the CPU time of the step."""
    if cores is None:
        return UNCLEAR
    used = cores * waiting.step_seconds
    in_phases = waiting.step_seconds - waiting.seconds
    if used - in_phases >= limits.max_of_it_share * waiting.seconds:
        return COMPUTING
    if used >= limits.max_of_it_share * waiting.seconds:
        return UNCLEAR
    return WRITING if written >= limits.notable_write_bytes_per_second else WAITING


def _finding(outside: _Outside, limits: Limits) -> Finding:
    waiting = outside.waiting
    is_large = outside.share >= limits.large_share
    return Finding(
        severity=Severity.WARNING if is_large else Severity.NOTICE,
        summary=(
            f"{duration(waiting.exposed_seconds)} of each"
            f" {duration(waiting.step_seconds)} step"
            f" ({percent(waiting.exposed_share)}) are in no phase"
            f"{waiting.hidden_words}.{_what(outside)}"
        ),
        evidence=_evidence(outside, limits),
        recommendations=_recommendations(outside),
        disproof=(
            "Add a phase around the rest of the loop: if it is work that training needs,"
            " nothing is lost."
        ),
        gain=gain_of_share(outside.share, "Work in no phase"),
        explains=("gpu-utilization-is-low", "gpu-and-cpu-are-both-idle"),
        comes_after=("data-wait-dominates", "cores-are-oversubscribed"),
        margin=margin_above(outside.share, limits.own_share),
        corroboration=ALONE if outside.kind is UNCLEAR else AGREEING,
    )


def _what(outside: _Outside) -> str:
    match outside.kind:
        case "computing":
            return " The main thread computes meanwhile."
        case "writing":
            return (
                " The main thread computes little meanwhile, and the job writes"
                f" {size(outside.written)} per step: it probably waits for files."
            )
        case "waiting":
            return " The main thread waits meanwhile: it uses little CPU time."
    return ""


def _recommendations(outside: _Outside) -> tuple[Recommendation, ...]:
    line = phase_line("log" if outside.kind is WRITING else "rest_of_step")
    name = Recommendation("Time the rest of the loop to find the cause.", code=line)
    match outside.kind:
        case "computing":
            do = "Move metrics and other Python code out of the step, or run it less often."
        case "writing":
            do = "Write files less often, or in a background thread."
        case "waiting":
            do = "Look for sleeps, locks, file access and network calls in the loop."
        case _:
            return (name,)
    return (name, Recommendation(do))


def _evidence(outside: _Outside, limits: Limits) -> tuple[Evidence, ...]:
    found = [
        Evidence(
            "phase_seconds",
            "time in no phase, share of step time",
            outside.waiting.exposed_share,
            "share",
            limits.notable_share,
            Side.ABOVE,
            release=limits.release_share,
        ),
        Evidence(
            "phase_seconds",
            "time in no phase without waits for a core, share of step time",
            outside.share,
            "share",
            limits.own_share,
            Side.ABOVE,
        ),
    ]
    if outside.main_cores is not None:
        found.append(
            Evidence(
                "job_main_thread_cpu_cores",
                "CPU use of the main thread, mean",
                outside.main_cores,
                "cores",
            )
        )
    if outside.kind is WRITING:
        found.append(
            Evidence(
                "job_write_bytes_per_second", "written per step", outside.written, "B"
            )
        )
    return tuple(found)
