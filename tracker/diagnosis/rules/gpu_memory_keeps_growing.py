"""GPU memory keeps growing.

## What it looks for
Memory of tensors that rises through the whole stage, without being given back, by
512 MiB and more or by 5 % of the card. Where the framework's allocator is not asked,
what the driver reports.

## Why it matters
Work that repeats needs the same memory each time. What grows is kept by mistake, and
it ends with an out-of-memory error as soon as the run is long enough.

## When it is wrong
Inputs that grow, such as longer and longer sequences, need more memory each time.
Steps then take longer, too, and the finding counts for less.
The first tenth of the stage is left out: allocators and caches fill up at the start.
Frameworks that reserve memory in advance are not judged.

Catalogue: M2, GPU memory creep.
"""

from __future__ import annotations

import numpy as np

from tracker.diagnosis.finding import (
    ALONE,
    CONTRADICTED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Severity,
    Side,
)
from tracker.diagnosis.frameworks import RESERVING
from tracker.diagnosis.gpu_memory import ways_to_let_go
from tracker.diagnosis.growth import Growth, steady_growth
from tracker.diagnosis.rule import Span
from tracker.diagnosis.signals import Array, Samples
from tracker.diagnosis.statistics import margin_above
from tracker.diagnosis.wording import duration, size

SPAN = Span.STAGE

NOTABLE_GROWTH_BYTES = 512 * 1024 * 1024
NOTABLE_GROWTH_SHARE = 0.05
RELEASE_SHARE = 0.80  # of these limits

FEWEST_READINGS = 30
# Steps that became longer by this part: the inputs may have grown.
LONGER_STEPS_SHARE = 0.10
FEWEST_STEPS = 30


def check(
    gpu_memory_used_bytes: Samples,
    gpu_memory_total_bytes: float,
    *,
    gpu_allocator_allocated_bytes: Samples | None = None,
    step_seconds: Array | None = None,
    framework: str | None = None,
    already_open: bool = False,
) -> Answer:
    if framework in RESERVING:
        return Abstention((f"memory in use as {framework} itself counts it",))
    if not gpu_memory_total_bytes > 0:
        return Abstention(("gpu_memory_total_bytes",))
    is_of_tensors = gpu_allocator_allocated_bytes is not None
    samples = gpu_allocator_allocated_bytes or gpu_memory_used_bytes
    if len(samples.values) < FEWEST_READINGS:
        return Abstention((f"at least {FEWEST_READINGS} readings",))

    growth = steady_growth(samples)
    notable = min(NOTABLE_GROWTH_BYTES, NOTABLE_GROWTH_SHARE * gpu_memory_total_bytes)
    least = RELEASE_SHARE * notable if already_open else notable
    if growth is None or not growth.total >= least:
        return None
    return _finding(
        growth,
        notable,
        signal=(
            "gpu_allocator_allocated_bytes"
            if is_of_tensors
            else "gpu_memory_used_bytes"
        ),
        left=growth.seconds_until(gpu_memory_total_bytes),
        quality=samples.quality,
        steps_grow=_steps_grow(step_seconds),
        framework=framework,
    )


def _steps_grow(step_seconds: Array | None) -> bool:
    """Return whether steps became longer: growing inputs cost time, too."""
    if step_seconds is None or len(step_seconds) < FEWEST_STEPS:
        return False
    third = len(step_seconds) // 3
    early = float(np.median(step_seconds[third : 2 * third]))
    late = float(np.median(step_seconds[-third:]))
    return late >= (1.0 + LONGER_STEPS_SHARE) * early


def _finding(
    growth: Growth,
    notable: float,
    *,
    signal: str,
    left: float,
    quality: float,
    steps_grow: bool,
    framework: str | None,
) -> Finding:
    per_hour = growth.per_second * 3600
    and_steps = " Steps became longer, too." if steps_grow else ""
    return Finding(
        severity=(Severity.CRITICAL if left <= growth.seconds else Severity.WARNING),
        summary=(
            f"GPU memory grew by {size(growth.total)} in"
            f" {duration(growth.seconds)} and never shrank: {size(per_hour)} per"
            f" hour, full in {duration(left)}.{and_steps}"
        ),
        evidence=(
            Evidence(
                signal,
                "growth of GPU memory",
                growth.total,
                "B",
                notable,
                Side.ABOVE,
                RELEASE_SHARE * notable,
            ),
            Evidence(signal, "growth of GPU memory per hour", per_hour, "B"),
            Evidence(signal, "time until GPU memory is full", left, "s"),
        ),
        recommendations=ways_to_let_go(framework),
        disproof=(
            "Train on one batch, repeated: if the memory still grows, it is not the"
            " inputs; if it stays, they have grown."
        ),
        explains=("gpu-memory-is-nearly-full",),
        quality=quality,
        margin=margin_above(growth.total, notable),
        corroboration=CONTRADICTED if steps_grow else ALONE,
    )
