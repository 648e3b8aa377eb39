"""GPU memory is held, but the GPU is idle.

## What it looks for
Memory of the job on a GPU, more than 500 MiB, while that GPU did nothing at all in
80 % and more of the stage's time, for ten minutes and more, and no other GPU worked
either.

## Why it matters
Nobody else can use what is held. Mostly it is a notebook that was left open, or a
stage that does not need the GPU any more.

## When it is wrong
A service that waits for requests is meant to wait, and is not judged here.
Where it is not known which process holds the memory, it may be somebody else's.
Readings of an idle GPU that come while it works in very short bursts are rare, but
possible.

Catalogue: M7, GPU held but idle.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tracker.diagnosis.finding import (
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
from tracker.diagnosis.rule import Span
from tracker.diagnosis.signals import Array, Samples
from tracker.diagnosis.statistics import margin_towards, typical
from tracker.diagnosis.wording import duration, percent, size

SPAN = Span.STAGE

HELD_BYTES = 500 * 1024 * 1024
IDLE_SHARE = 0.80
IDLE_RELEASE_SHARE = 0.70
FEWEST_SECONDS = 600.0
CRITICAL_SECONDS = 4 * 3600.0
FEWEST_READINGS = 10
# The driver's rounding of nothing.
IDLE_PERCENT = 0.5
# The part of readings of any other GPU that work.
WORKING_SHARE = 0.20

# Of what a service calls its phases.
REQUEST = "request"
SERVICE = "a service answers when it is asked"


def check(
    gpu_utilization_percent: Samples,
    gpu_memory_used_bytes: Samples,
    *,
    gpu_job_memory_bytes: Samples | None = None,
    gpu_allocator_reserved_bytes: Samples | None = None,
    busiest_gpu_percent: Samples | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    spans: Mapping[str, Samples] | None = None,
    already_open: bool = False,
) -> Answer:
    if REQUEST in {*(phase_seconds or {}), *(spans or {})}:
        return Abstention((SERVICE,))
    times = gpu_utilization_percent.times
    seconds = float(times[-1] - times[0]) / 1e6 if len(times) else 0.0
    if seconds < FEWEST_SECONDS or len(times) < FEWEST_READINGS:
        return Abstention(
            (f"at least {FEWEST_READINGS} readings over {duration(FEWEST_SECONDS)}",)
        )

    own = gpu_job_memory_bytes or gpu_allocator_reserved_bytes
    held = typical(own or gpu_memory_used_bytes)
    idle = float(np.mean(gpu_utilization_percent.values <= IDLE_PERCENT))
    least = IDLE_RELEASE_SHARE if already_open else IDLE_SHARE
    idle_seconds = idle * seconds
    if not held > HELD_BYTES or idle < least or idle_seconds < FEWEST_SECONDS:
        return None
    if busiest_gpu_percent is not None and (
        np.mean(busiest_gpu_percent.values > IDLE_PERCENT) > 1 - idle + WORKING_SHARE
    ):
        # The job works on another GPU: that one is unused, which is another fault.
        return None
    return _finding(held, idle, seconds, is_own=own is not None)


def _finding(held: float, idle: float, seconds: float, *, is_own: bool) -> Finding:
    idle_seconds = idle * seconds
    return Finding(
        severity=(
            Severity.CRITICAL if idle_seconds >= CRITICAL_SECONDS else Severity.WARNING
        ),
        summary=(
            f"The GPU was idle for {percent(idle)} of {duration(seconds)} with"
            f" {size(held)} of its memory held: {duration(idle_seconds)} of GPU"
            " time."
        ),
        evidence=(
            Evidence(
                "gpu_utilization_percent",
                "samples with an idle GPU, share",
                idle,
                "share",
                IDLE_SHARE,
                Side.ABOVE,
                release=IDLE_RELEASE_SHARE,
            ),
            Evidence(
                "gpu_job_memory_bytes" if is_own else "gpu_memory_used_bytes",
                "GPU memory held, median",
                held,
                "B",
                HELD_BYTES,
                Side.ABOVE,
            ),
            Evidence("gpu_utilization_percent", "idle GPU time", idle_seconds, "s"),
        ),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Look at the process list of the card while the stage runs: if the memory"
            " is another process's, this job holds nothing."
        ),
        quality=SAMPLED if is_own else SAMPLED / 2,
        margin=margin_towards(idle, IDLE_SHARE, 1.0),
        corroboration=AGREEING if is_own else ALONE,
    )


_RECOMMENDATIONS = (
    Recommendation(
        "End the process when its work is done: a notebook's kernel holds the GPU until"
        " it is shut down."
    ),
    Recommendation(
        "Give the memory back before a stage that does not need it.",
        code="del model; torch.cuda.empty_cache()",
    ),
    Recommendation(
        "Run the stage that needs no GPU as a script of its own, and queue the one that"
        " does.",
        code='run = agent.init("my run", stage="prepare")',
    ),
)
