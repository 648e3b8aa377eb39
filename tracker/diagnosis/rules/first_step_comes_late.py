"""Slow start before the first step.

## Detection
At least one minute, and at least 5 % of the stage, before the end of the first step; or 15
seconds and 30 %. While a stage runs, its total length is unknown, and the limit is five
minutes. The time of a median step is subtracted from the first step.

## Why it matters
Every start pays this time again: every experiment, every restart after a crash, every
machine of a job.

## Limitations
The time before `agent.init()` is not measured. The first run on a machine downloads and
compiles files that later runs find in caches. Waits for a CPU core do not count, because
other jobs cause them. Parts of the start are shown only if the script names them as phases.

Catalogue: T1, long initialization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.engine.finding import (
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import phase_line
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.speedup import gain_of_share
from tracker.diagnosis.engine.wording import duration, percent
from tracker.diagnosis.hardware.contention import CROWDED
from tracker.diagnosis.signals import Array, Samples

SPAN = Span.STAGE

NAMES = {
    PhaseKind.IMPORT: "importing",
    PhaseKind.LOAD_DATA: "loading data",
    PhaseKind.LOAD_MODEL: "loading the model",
    PhaseKind.COMPILE: "compiling",
    PhaseKind.EVALUATE: "evaluation",
    PhaseKind.CHECKPOINT: "checkpoints",
}
FIRST_STEP = "in the first step"
UNKNOWN = "outside named phases"

ADVICE = {
    "importing": "Import modules when they are first needed, from a local disk.",
    "loading data": (
        "Keep the list of files and their sizes in one file instead of querying the file"
        " system for each file."
    ),
    "loading the model": (
        "Keep the weights on a local disk, in a memory-mapped format."
    ),
    "compiling": "Keep the compiler's cache between runs.",
    "evaluation": "Skip the evaluation before the first step.",
    FIRST_STEP: (
        "The first step compiles, chooses algorithms and starts loader workers: keep"
        " the compiler's cache, and make the dataset cheap to construct."
    ),
    UNKNOWN: "Name the parts of the start as phases, so that their times are measured.",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    long_seconds: float = 60.0
    long_seconds_while_running: float = 300.0
    long_share: float = 0.05
    large_share: float = 0.20
    # In a stage that has ended, a shorter start is long if it is much of the stage.
    short_seconds: float = 15.0
    short_share: float = 0.30

    fewest_steps: int = 3
    # A first step longer than this many median steps compiles or waits for the first
    # batch.
    long_first_step: float = 5.0
    # Parts below this share of the start are not listed.
    smallest_part: float = 0.10


@dataclass(frozen=True, slots=True)
class _Start:
    seconds: float
    parts: dict[str, float]


def check(
    step_seconds: Array,
    step_end_seconds: Array,
    job_cpu_cores: Samples,
    stage_seconds: float,
    *,
    spans: Mapping[str, Samples] | None = None,
    stage_state: str | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    limits: Limits = Limits(),
) -> Answer:
    if len(step_seconds) < limits.fewest_steps:
        return None
    start = _measure(step_seconds, step_end_seconds, job_cpu_cores, spans or {}, limits)
    share = start.seconds / max(stage_seconds, start.seconds, 1e-9)
    is_running = stage_state == "running"
    limit, least = _long_start(share, is_running=is_running, limits=limits)
    if start.seconds < limit or share < least:
        return None
    waited = _waited_share(job_main_thread_core_wait_share, float(step_end_seconds[0]))
    if start.seconds * (1.0 - waited) < limit:
        return Abstention((CROWDED,))

    named = {
        name: seconds
        for name, seconds in start.parts.items()
        if seconds >= limits.smallest_part * start.seconds
    }
    return Finding(
        severity=Severity.WARNING if share >= limits.large_share else Severity.NOTICE,
        summary=(
            f"The first step ends {duration(start.seconds)} after the start"
            f" ({percent(share)} of the stage): {_listed(named)}."
        ),
        evidence=(
            Evidence(
                "step_end_seconds",
                "time from the first sample to the end of the first step",
                start.seconds,
                "s",
                limit,
                Side.ABOVE,
            ),
            Evidence(
                "stage_seconds",
                "time before the end of the first step, share of the stage",
                share,
                "share",
                least,
                Side.ABOVE,
            ),
        ),
        recommendations=tuple(
            Recommendation(
                ADVICE.get(name, f"Shorten {name}."),
                code=phase_line("load_model") if name == UNKNOWN else "",
            )
            for name in sorted(named, key=lambda name: -named[name])
        ),
        disproof=(
            "Start the same stage again on the same machine: if its first step starts"
            " quickly, cold caches were the only reason."
        ),
        gain=gain_of_share(share, "The start"),
        margin=margin_above(share, least),
    )


def _waited_share(core_wait: Samples | None, first_end: float) -> float:
    """Return the share of the start in which the main thread waited for a core."""
    if core_wait is None:
        return 0.0
    before = core_wait.values[core_wait.times / 1e6 <= first_end]
    return float(before.mean()) if len(before) else 0.0


def _long_start(
    share: float, *, is_running: bool, limits: Limits
) -> tuple[float, float]:
    """Return the seconds and the share from which on a start is long."""
    if is_running:
        return limits.long_seconds_while_running, limits.long_share
    if share >= limits.short_share:
        return limits.short_seconds, limits.short_share
    return limits.long_seconds, limits.long_share


def _measure(
    step_seconds: Array,
    step_end_seconds: Array,
    job_cpu_cores: Samples,
    spans: Mapping[str, Samples],
    limits: Limits,
) -> _Start:
    """Return the time before the end of the first step, without a median step."""
    first_end = float(step_end_seconds[0])
    first, usual = float(step_seconds[0]), float(np.median(step_seconds[1:]))
    began = min(first_end - first, float(job_cpu_cores.times[0]) / 1e6)
    seconds = max(0.0, first_end - began - usual)

    parts: dict[str, float] = {}
    for phase, span in spans.items():
        kind = kind_of_phase(phase)
        name = (NAMES.get(kind) if kind else None) or f'"{phase}"'
        before = span.values[span.times / 1e6 <= first_end]
        parts[name] = parts.get(name, 0.0) + float(before.sum())
    if first >= limits.long_first_step * usual:
        parts[FIRST_STEP] = first - usual
    parts[UNKNOWN] = max(0.0, seconds - sum(parts.values()))
    return _Start(seconds, parts)


def _listed(parts: dict[str, float]) -> str:
    largest = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{duration(seconds)} {name}" for name, seconds in largest)
