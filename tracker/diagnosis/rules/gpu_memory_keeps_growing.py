"""GPU memory keeps growing.

## Detection
Tensor memory that rises through the whole stage without being freed, by at least 512 MiB or
5 % of the card. If the framework's allocator is not measured, the driver's value is used.

## Why it matters
Repeated work needs the same memory each time. Growth means that references are kept by
mistake, and it ends with an out-of-memory error if the run is long enough.

## Limitations
Growing inputs, such as longer and longer sequences, need more memory each time.
Steps then take longer, too, and the finding is less certain.
The first tenth of the stage is excluded, because allocators and caches fill at the start.
Frameworks that reserve memory in advance are not judged.

Catalogue: M2, GPU memory creep.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.growth import Growth, steady_growth
from tracker.diagnosis.analysis.statistics import margin_above
from tracker.diagnosis.engine.finding import (
    ALONE,
    CONTRADICTED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import RESERVING
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import duration, size
from tracker.diagnosis.hardware.gpu_memory import ways_to_let_go
from tracker.diagnosis.signals import Array, Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_growth_bytes: int = 512 * 1024 * 1024
    notable_growth_share: float = 0.05
    release_share: float = 0.80  # of these limits

    fewest_readings: int = 30
    # Steps that grow by this share may have growing inputs.
    longer_steps_share: float = 0.10
    fewest_steps: int = 30


def check(
    gpu_memory_used_bytes: Samples,
    gpu_memory_total_bytes: float,
    *,
    gpu_allocator_allocated_bytes: Samples | None = None,
    step_seconds: Array | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if framework in RESERVING:
        return Abstention((f"the memory use that {framework} itself reports",))
    if not gpu_memory_total_bytes > 0:
        return Abstention(("gpu_memory_total_bytes",))
    is_of_tensors = gpu_allocator_allocated_bytes is not None
    samples = gpu_allocator_allocated_bytes or gpu_memory_used_bytes
    if len(samples.values) < limits.fewest_readings:
        return Abstention((f"at least {limits.fewest_readings} samples",))

    growth = steady_growth(samples)
    notable = min(
        limits.notable_growth_bytes,
        limits.notable_growth_share * gpu_memory_total_bytes,
    )
    least = limits.release_share * notable if already_open else notable
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
        steps_grow=_steps_grow(step_seconds, limits),
        framework=framework,
        limits=limits,
    )


def _steps_grow(step_seconds: Array | None, limits: Limits) -> bool:
    """Return whether steps became longer, which growing inputs would also cause."""
    if step_seconds is None or len(step_seconds) < limits.fewest_steps:
        return False
    third = len(step_seconds) // 3
    early = float(np.median(step_seconds[third : 2 * third]))
    late = float(np.median(step_seconds[-third:]))
    return late >= (1.0 + limits.longer_steps_share) * early


def _finding(
    growth: Growth,
    notable: float,
    *,
    signal: str,
    left: float,
    quality: float,
    steps_grow: bool,
    framework: str | None,
    limits: Limits,
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
                limits.release_share * notable,
            ),
            Evidence(signal, "growth of GPU memory per hour", per_hour, "B"),
            Evidence(signal, "time until GPU memory is full", left, "s"),
        ),
        recommendations=ways_to_let_go(framework),
        disproof=(
            "Train on one batch, repeated: if the memory still grows, the inputs are not"
            " the cause; if it stays, they are."
        ),
        explains=("gpu-memory-is-nearly-full",),
        quality=quality,
        margin=margin_above(growth.total, notable),
        corroboration=CONTRADICTED if steps_grow else ALONE,
    )
