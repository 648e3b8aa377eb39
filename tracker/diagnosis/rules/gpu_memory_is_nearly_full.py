"""GPU memory is nearly full.

## Detection
Peak memory close to the capacity of the GPU, or memory that grows so that it will be full
within the time the stage has already run. If the framework's allocator reports its peak, the
rule uses that peak plus the memory of other processes; otherwise the driver's value.

## Why it matters
The next allocation that does not fit ends the run with an out-of-memory error, often
hours after the start.

## Limitations
The driver's value includes memory that the framework caches: without the allocator's values
there may be more room than it seems.
Frameworks that reserve memory in advance are not judged.
Growth that belongs to the work, such as longer and longer sequences, ends by itself.
The planned length of a run is unknown; the forecast covers the time it has already run.

Catalogue: M1, out-of-memory head-room.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.growth import Growth, steady_growth
from tracker.diagnosis.analysis.statistics import margin_towards
from tracker.diagnosis.engine.finding import (
    ALONE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import RESERVING
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import duration, size
from tracker.diagnosis.hardware.gpu_memory import Need, measure_need, ways_to_save
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    full_share: float = 0.90
    full_release_share: float = 0.87
    critical_share: float = 0.97

    fewest_readings: int = 5

    # Growth that justifies a forecast: this many bytes, or this share of the memory.
    notable_growth_bytes: int = 512 * 1024 * 1024
    notable_growth_share: float = 0.05


def check(
    gpu_memory_used_bytes: Samples,
    gpu_memory_total_bytes: float,
    *,
    gpu_allocator_peak_bytes: Samples | None = None,
    gpu_allocator_reserved_bytes: Samples | None = None,
    gpu_allocator_allocated_bytes: Samples | None = None,
    batch_size: float | None = None,
    framework: str | None = None,
    torch_autocast: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if framework in RESERVING:
        return Abstention((f"the memory use that {framework} itself reports",))
    if not gpu_memory_total_bytes > 0:
        return Abstention(("gpu_memory_total_bytes",))
    if len(gpu_memory_used_bytes.values) < limits.fewest_readings:
        return Abstention((f"at least {limits.fewest_readings} samples",))

    need = measure_need(
        gpu_memory_used_bytes,
        gpu_memory_total_bytes,
        peak_bytes=gpu_allocator_peak_bytes,
        reserved_bytes=gpu_allocator_reserved_bytes,
    )
    ways = ways_to_save(framework, batch_size=batch_size, autocast=torch_autocast)
    if need.share >= (limits.full_release_share if already_open else limits.full_share):
        return _nearly_full(need, ways, limits)

    is_of_tensors = need.is_of_allocator and gpu_allocator_allocated_bytes is not None
    growing = gpu_allocator_allocated_bytes if is_of_tensors else gpu_memory_used_bytes
    growth = steady_growth(growing) if growing is not None else None
    room = gpu_memory_total_bytes - (need.beside_bytes if is_of_tensors else 0.0)
    if growth is None or not _fills_soon(growth, room, limits):
        return None
    return _keeps_growing(growth, room, need, ways, framework, limits=limits)


def _fills_soon(growth: Growth, total_bytes: float, limits: Limits) -> bool:
    notable = min(
        limits.notable_growth_bytes, limits.notable_growth_share * total_bytes
    )
    return (
        growth.total >= notable and growth.seconds_until(total_bytes) <= growth.seconds
    )


def _nearly_full(
    need: Need, ways: tuple[Recommendation, ...], limits: Limits
) -> Finding:
    left = max(0.0, need.total_bytes - need.needed_bytes)
    return Finding(
        severity=(
            Severity.CRITICAL
            if need.share >= limits.critical_share
            else Severity.WARNING
        ),
        summary=(
            f"At its peak, {size(need.needed_bytes)} of {size(need.total_bytes)}"
            f" GPU memory was {'needed' if need.is_of_allocator else 'in use'};"
            f" {size(left)} is left."
        ),
        evidence=(_highest(need, limits),),
        recommendations=ways,
        disproof=(
            "Run with the longest inputs of the dataset: if the peak does not rise,"
            " the memory is sufficient."
            if need.is_of_allocator
            else "Query how much memory the framework has allocated and not only"
            " cached: if that is far below, there is room."
        ),
        quality=need.quality,
        # A value at the limit is certain already; a higher one is worse, not more certain.
        margin=max(0.8, margin_towards(need.share, limits.full_share, 1.0)),
        corroboration=ALONE,
    )


def _keeps_growing(
    growth: Growth,
    room_bytes: float,
    need: Need,
    ways: tuple[Recommendation, ...],
    framework: str | None,
    *,
    limits: Limits,
) -> Finding:
    left = growth.seconds_until(room_bytes)
    return Finding(
        title="GPU memory will run out",
        severity=Severity.WARNING,
        summary=(
            f"GPU memory grew by {size(growth.total)} in"
            f" {duration(growth.seconds)}. At this rate it is full in"
            f" {duration(left)}."
        ),
        evidence=(
            _highest(need, limits),
            Evidence(
                "gpu_memory_used_bytes",
                "growth of GPU memory per hour",
                growth.per_second * 3600,
                "B",
            ),
            Evidence(
                "gpu_memory_used_bytes",
                "time until GPU memory is full",
                left,
                "s",
                growth.seconds,
                Side.BELOW,
            ),
        ),
        recommendations=(
            Recommendation(
                "Look for tensors that stay referenced: losses summed with their graph,"
                " outputs in lists, unbounded caches.",
                code="total_loss += loss.item()" if framework == "pytorch" else "",
            ),
            *ways,
        ),
        disproof="Watch the memory for as long again: if it levels off, nothing leaks.",
        quality=need.quality,
        margin=margin_towards(growth.seconds - left, 0.0, growth.seconds),
        corroboration=ALONE,
    )


def _highest(need: Need, limits: Limits) -> Evidence:
    return Evidence(
        need.signal,
        "GPU memory, peak, share of all",
        need.share,
        "share",
        limits.full_share,
        Side.ABOVE,
        release=limits.full_release_share,
    )
