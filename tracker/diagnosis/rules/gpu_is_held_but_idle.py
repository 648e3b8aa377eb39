"""GPU memory is held, but the GPU is idle.

## Detection
The time in which GPU memory is held: more than 500 MiB, or more than 5 % if only the share is
known. The GPU was fully idle in at least 80 % of that time, for at least ten minutes, and no
other GPU worked.

## Why it matters
Other jobs cannot use held memory. The usual cause is a notebook that was left open, or a
stage that no longer needs the GPU.

## Limitations
A service that waits for requests is idle on purpose and is not judged.
If the process that holds the memory is unknown, it may belong to another job.
Samples can miss very short bursts of work, but this is rare.

Catalogue: M7, GPU held but idle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import margin_towards
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import duration, percent, size
from tracker.diagnosis.signals import Array, Samples, Times

SPAN = Span.STAGE

SHARE = "gpu_memory_used_share"

# The name of a service's phases contains this.
REQUEST = "request"
SERVICE = "a stage that is not a service"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    held_bytes: int = 500 * 1024 * 1024
    held_share: float = 0.05
    idle_share: float = 0.80
    idle_release_share: float = 0.70
    # From here on a case is clear: a stage that also worked is never idle all the time.
    clear_share: float = 0.90
    fewest_seconds: float = 600.0
    critical_seconds: float = 4 * 3600.0
    fewest_readings: int = 10
    # The driver rounds small values.
    idle_percent: float = 0.5
    # Minimum share of samples in which another GPU works.
    working_share: float = 0.20

    # Another process may hold the memory.
    of_unknown_process: float = 0.75


def check(
    gpu_utilization_percent: Samples,
    *,
    gpu_memory_used_bytes: Samples | None = None,
    gpu_memory_used_share: Samples | None = None,
    gpu_job_memory_bytes: Samples | None = None,
    gpu_allocator_reserved_bytes: Samples | None = None,
    busiest_gpu_percent: Samples | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    spans: Mapping[str, Samples] | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if REQUEST in {*(phase_seconds or {}), *(spans or {})}:
        return Abstention((SERVICE,))
    times = gpu_utilization_percent.times
    seconds = float(times[-1] - times[0]) / 1e6 if len(times) else 0.0
    if seconds < limits.fewest_seconds or len(times) < limits.fewest_readings:
        return Abstention(
            (
                f"at least {limits.fewest_readings} samples over"
                f" {duration(limits.fewest_seconds)}",
            )
        )

    name, memory = _memory(
        gpu_job_memory_bytes=gpu_job_memory_bytes,
        gpu_allocator_reserved_bytes=gpu_allocator_reserved_bytes,
        gpu_memory_used_bytes=gpu_memory_used_bytes,
        gpu_memory_used_share=gpu_memory_used_share,
    )
    if memory is None:
        return Abstention(("gpu_memory_used_bytes",))
    held = _held(name, memory, gpu_utilization_percent, busiest_gpu_percent, limits)
    least = limits.idle_release_share if already_open else limits.idle_share
    if held is None or held.idle < least or held.idle_seconds < limits.fewest_seconds:
        return None
    return _finding(held, limits)


def _held(
    name: str,
    memory: Samples,
    utilization: Samples,
    busiest: Samples | None,
    limits: Limits,
) -> _Held | None:
    """Return how the time with held memory was used; None if another GPU worked."""
    times = utilization.times
    limit = limits.held_share if name == SHARE else limits.held_bytes
    is_held = _values_at(memory, times) > limit
    if np.count_nonzero(is_held) < limits.fewest_readings:
        return None
    idle = float(np.mean(utilization.values[is_held] <= limits.idle_percent))
    if busiest is not None:
        is_busy = _values_at(busiest, times)[is_held] > limits.idle_percent
        if np.mean(is_busy) > 1 - idle + limits.working_share:
            # The job works on another GPU; another rule reports the unused one.
            return None
    stage_seconds = float(times[-1] - times[0]) / 1e6
    return _Held(
        signal=name,
        amount=float(np.median(memory.values[memory.values > limit])),
        limit=limit,
        seconds=float(np.mean(is_held)) * stage_seconds,
        idle=idle,
        stage_seconds=stage_seconds,
    )


@dataclass(frozen=True, slots=True)
class _Held:
    """GPU memory while it is held, and the share of that time in which the GPU is idle."""

    signal: str
    amount: float
    limit: float
    seconds: float
    idle: float
    stage_seconds: float

    @property
    def idle_seconds(self) -> float:
        return self.idle * self.seconds

    @property
    def is_own(self) -> bool:
        """Return whether the memory is known to belong to the job."""
        return self.signal not in (SHARE, "gpu_memory_used_bytes")

    @property
    def text(self) -> str:
        if self.signal == SHARE:
            return f"{percent(self.amount)} of its memory"
        return f"{size(self.amount)} of its memory"


def _memory(**signals: Samples | None) -> tuple[str, Samples | None]:
    """Return the first measured signal; those of the job itself come first."""
    return next(
        ((name, found) for name, found in signals.items() if found is not None),
        ("", None),
    )


def _values_at(samples: Samples, times: Times) -> Array:
    """Return the sample at or before each time, or the first sample."""
    index = np.searchsorted(samples.times, times, side="right") - 1
    return np.asarray(samples.values[np.maximum(index, 0)], np.float64)


def _finding(held: _Held, limits: Limits) -> Finding:
    idle_seconds = held.idle_seconds
    return Finding(
        severity=(
            Severity.CRITICAL
            if idle_seconds >= limits.critical_seconds
            else Severity.WARNING
        ),
        summary=(
            f"The GPU was idle for {percent(held.idle)} of the"
            f" {duration(held.seconds)} in which {held.text} was held:"
            f" {duration(idle_seconds)} of GPU time."
        ),
        evidence=(
            Evidence(
                "gpu_utilization_percent",
                "idle share of the time with memory held",
                held.idle,
                "share",
                limits.idle_share,
                Side.ABOVE,
                release=limits.idle_release_share,
            ),
            Evidence(
                held.signal,
                "GPU memory held, median",
                held.amount,
                "share" if held.signal == SHARE else "B",
                held.limit,
                Side.ABOVE,
            ),
            Evidence("gpu_utilization_percent", "idle GPU time", idle_seconds, "s"),
        ),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Look at the process list of the card while the stage runs: if the memory"
            " belongs to another process, this job holds none."
        ),
        lost_share=min(1.0, idle_seconds / held.stage_seconds),
        quality=SAMPLED if held.is_own else limits.of_unknown_process * SAMPLED,
        margin=margin_towards(held.idle, limits.idle_share, limits.clear_share),
        corroboration=AGREEING if held.is_own else ALONE,
    )


_RECOMMENDATIONS = (
    Recommendation(
        "End the process when its work is done: a notebook's kernel holds the GPU until"
        " it is shut down."
    ),
    Recommendation(
        "Free the memory before a stage that does not need it.",
        code="del model; torch.cuda.empty_cache()",
    ),
    Recommendation(
        "Run the stage that needs no GPU as a separate script, and queue the one that"
        " does.",
        code='run = agent.init("my run", stage="prepare")',
    ),
)
