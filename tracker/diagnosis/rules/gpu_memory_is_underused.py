"""GPU memory has room for a larger batch.

## What it looks for
A GPU that works, is not fully used, and never fills more than 60 % of its memory,
in steps that do not wait for data.

## Why it matters
A larger batch gives the GPU more to do at a time. It is the first thing to try when
the GPU is not the limit and neither is the data.

## When it is wrong
Memory is what the driver reports, whoever uses it.
Frameworks that reserve memory in advance are not judged.
Whether a larger batch is faster is known only after trying: one batch size says
nothing about another. Larger batches can need a higher learning rate and may
generalise worse.

Catalogue: C3, batch too small or memory head-room.
"""

from __future__ import annotations

import math

from tracker.diagnosis.finding import (
    AGREEING,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
)
from tracker.diagnosis.frameworks import RESERVING, batch_size_line
from tracker.diagnosis.signals import Array, Samples
from tracker.diagnosis.statistics import highest, margin_below, percentile, typical
from tracker.diagnosis.waiting import measure_waiting
from tracker.diagnosis.wording import percent, size

LOW_MEMORY_SHARE = 0.60
LOW_MEMORY_RELEASE_SHARE = 0.65

# Above, the GPU is busy enough that a larger batch promises little.
BUSY_GPU_PERCENT = 70.0
BUSY_GPU_RELEASE_PERCENT = 75.0
# Below, the GPU does not take part.
IDLE_GPU_PERCENT = 5.0

# What a larger batch may fill.
SAFE_MEMORY_SHARE = 0.90
LARGEST_FACTOR = 64
DOUBLE = 2.0


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    gpu_utilization_percent: Samples,
    gpu_memory_used_bytes: Samples,
    gpu_memory_total_bytes: float,
    *,
    busiest_gpu_percent: Samples | None = None,
    batch_size: float | None = None,
    framework: str | None = None,
    already_open: bool = False,
) -> Answer:
    if framework in RESERVING:
        return Abstention((f"memory in use as {framework} itself counts it",))
    if not gpu_memory_total_bytes > 0:
        return Abstention(("gpu_memory_total_bytes",))

    waiting = measure_waiting(step_seconds, data_wait_seconds, busiest_gpu_percent)
    if waiting is None or waiting.is_notable(already_open=False):
        # Steps that wait for data would wait for more of it.
        return Abstention(("steps that do not wait for data",))

    busy = typical(gpu_utilization_percent)
    memory_share = highest(gpu_memory_used_bytes) / gpu_memory_total_bytes
    takes_part = percentile(gpu_utilization_percent, 95) >= IDLE_GPU_PERCENT
    is_busy = busy >= (BUSY_GPU_RELEASE_PERCENT if already_open else BUSY_GPU_PERCENT)
    limit = LOW_MEMORY_RELEASE_SHARE if already_open else LOW_MEMORY_SHARE
    if not takes_part or is_busy or memory_share > limit:
        return None

    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"At most {size(memory_share * gpu_memory_total_bytes)} of"
            f" {size(gpu_memory_total_bytes)} GPU memory was in use"
            f" ({percent(memory_share)}), and the GPU was busy {busy:.0f} % of the time."
        ),
        evidence=(
            Evidence(
                "gpu_memory_used_bytes",
                "highest, share of the GPU's memory",
                memory_share,
                "share",
                LOW_MEMORY_SHARE,
            ),
            Evidence("gpu_utilization_percent", "median", busy, "%", BUSY_GPU_PERCENT),
            Evidence("data_wait_seconds", "share of step time", waiting.share, "share"),
        ),
        recommendations=_recommendations(memory_share, batch_size, framework),
        disproof=(
            "Train some hundred steps with twice the batch: if examples per second do"
            " not rise, the batch is not the limit."
        ),
        quality=SAMPLED,
        margin=min(
            margin_below(memory_share, LOW_MEMORY_SHARE),
            margin_below(busy, BUSY_GPU_PERCENT),
        ),
        corroboration=AGREEING,
    )


def _recommendations(
    memory_share: float, batch_size: float | None, framework: str | None
) -> tuple[Recommendation, ...]:
    factor = _largest_safe_factor(memory_share)
    suggested = f"{int(batch_size * factor)}" if batch_size else ""
    return (
        Recommendation(
            "Try a larger batch, raising it while examples per second rise.",
            current=f"{batch_size:g}" if batch_size else "",
            suggested=f"up to {suggested or f'{factor:g} times as large'}",
            code=batch_size_line(
                framework, suggested or f"int({factor:g} * batch_size)"
            ),
        ),
        Recommendation(
            "Raise the learning rate with the batch, warm it up, and compare the loss at"
            " equal numbers of examples."
        ),
    )


def _largest_safe_factor(memory_share: float) -> float:
    """Return a factor that fits even if all memory in use grew with the batch."""
    room = SAFE_MEMORY_SHARE / max(memory_share, SAFE_MEMORY_SHARE / LARGEST_FACTOR)
    if room < DOUBLE:
        return math.floor(room * 10) / 10
    # Powers of two are the sizes that hardware likes.
    return DOUBLE ** math.floor(math.log2(room))
