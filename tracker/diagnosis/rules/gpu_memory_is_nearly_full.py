"""GPU memory is nearly full.

## What it looks for
Memory that the work needs at its highest and that comes close to all the GPU has, or
that keeps growing so that it will be full within the time the stage has run already.
Where the framework's allocator is asked, its tensors' peak counts, and what else is on
the card; otherwise what the driver reports.

## Why it matters
The next allocation that does not fit ends the run with an out-of-memory error, often
hours after the start.

## When it is wrong
What the driver reports includes what a framework keeps for later: without the
allocator's numbers there may be more room than it seems.
Frameworks that reserve memory in advance are not judged.
Growth that belongs to the work, such as longer and longer sequences, ends by itself.
How long a run is meant to go on is not known; the time it has run already stands for
it.

Catalogue: M1, out-of-memory head-room.
"""

from __future__ import annotations

from tracker.diagnosis.finding import (
    ALONE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.frameworks import RESERVING
from tracker.diagnosis.gpu_memory import Need, measure_need, ways_to_save
from tracker.diagnosis.growth import Growth, steady_growth
from tracker.diagnosis.rule import Span
from tracker.diagnosis.signals import Samples
from tracker.diagnosis.statistics import margin_towards
from tracker.diagnosis.wording import duration, size

SPAN = Span.STAGE

FULL_SHARE = 0.90
FULL_RELEASE_SHARE = 0.87
CRITICAL_SHARE = 0.97

FEWEST_READINGS = 5

# Growth that is worth a forecast: so much, or so large a part of the memory.
NOTABLE_GROWTH_BYTES = 512 * 1024 * 1024
NOTABLE_GROWTH_SHARE = 0.05


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
) -> Answer:
    if framework in RESERVING:
        return Abstention((f"memory in use as {framework} itself counts it",))
    if not gpu_memory_total_bytes > 0:
        return Abstention(("gpu_memory_total_bytes",))
    if len(gpu_memory_used_bytes.values) < FEWEST_READINGS:
        return Abstention((f"at least {FEWEST_READINGS} readings",))

    need = measure_need(
        gpu_memory_used_bytes,
        gpu_memory_total_bytes,
        peak_bytes=gpu_allocator_peak_bytes,
        reserved_bytes=gpu_allocator_reserved_bytes,
    )
    ways = ways_to_save(framework, batch_size=batch_size, autocast=torch_autocast)
    if need.share >= (FULL_RELEASE_SHARE if already_open else FULL_SHARE):
        return _nearly_full(need, ways)

    is_of_tensors = need.is_of_allocator and gpu_allocator_allocated_bytes is not None
    growing = gpu_allocator_allocated_bytes if is_of_tensors else gpu_memory_used_bytes
    growth = steady_growth(growing) if growing is not None else None
    room = gpu_memory_total_bytes - (need.beside_bytes if is_of_tensors else 0.0)
    if growth is None or not _fills_soon(growth, room):
        return None
    return _keeps_growing(growth, room, need, ways, framework)


def _fills_soon(growth: Growth, total_bytes: float) -> bool:
    notable = min(NOTABLE_GROWTH_BYTES, NOTABLE_GROWTH_SHARE * total_bytes)
    return (
        growth.total >= notable and growth.seconds_until(total_bytes) <= growth.seconds
    )


def _nearly_full(need: Need, ways: tuple[Recommendation, ...]) -> Finding:
    left = max(0.0, need.total_bytes - need.needed_bytes)
    return Finding(
        severity=(
            Severity.CRITICAL if need.share >= CRITICAL_SHARE else Severity.WARNING
        ),
        summary=(
            f"At its peak, {size(need.needed_bytes)} of {size(need.total_bytes)}"
            f" GPU memory was {'needed' if need.is_of_allocator else 'in use'};"
            f" {size(left)} is left."
        ),
        evidence=(_highest(need),),
        recommendations=ways,
        disproof=(
            "Run on with the longest inputs there are: if the peak stays where it is,"
            " the room is enough."
            if need.is_of_allocator
            else "Ask the framework how much of its memory is allocated and not only"
            " kept: if that is far below, there is room."
        ),
        quality=need.quality,
        # At the limit memory is nearly full by definition; more is worse, not surer.
        margin=max(0.8, margin_towards(need.share, FULL_SHARE, 1.0)),
        corroboration=ALONE,
    )


def _keeps_growing(
    growth: Growth,
    room_bytes: float,
    need: Need,
    ways: tuple[Recommendation, ...],
    framework: str | None,
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
            _highest(need),
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
                "Look for tensors that are kept: losses added up with their graph,"
                " outputs in lists, caches without an end.",
                code="total_loss += loss.item()" if framework == "pytorch" else "",
            ),
            *ways,
        ),
        disproof="Watch the memory for as long again: if it levels off, nothing leaks.",
        quality=need.quality,
        margin=margin_towards(growth.seconds - left, 0.0, growth.seconds),
        corroboration=ALONE,
    )


def _highest(need: Need) -> Evidence:
    return Evidence(
        need.signal,
        "GPU memory, peak, share of all",
        need.share,
        "share",
        FULL_SHARE,
        Side.ABOVE,
        release=FULL_RELEASE_SHARE,
    )
