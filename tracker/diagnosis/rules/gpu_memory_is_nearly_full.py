"""GPU memory is nearly full.

## What it looks for
Memory in use that comes close to all the GPU has, or that keeps growing so that it
will be full within the time the stage has run already.

## Why it matters
The next allocation that does not fit ends the run with an out-of-memory error, often
hours after the start.

## When it is wrong
Memory is what the driver reports, whoever uses it, and includes what the framework
holds for later. Frameworks that reserve memory in advance are not judged.
Growth that belongs to the work, such as longer and longer sequences, ends by itself.

Catalogue: M1, out-of-memory head-room.
"""

from __future__ import annotations

from tracker.diagnosis.finding import (
    ALONE,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
)
from tracker.diagnosis.frameworks import RESERVING, batch_size_line, memory_line
from tracker.diagnosis.growth import Growth, steady_growth
from tracker.diagnosis.rule import Span
from tracker.diagnosis.signals import Samples
from tracker.diagnosis.statistics import highest, margin_towards
from tracker.diagnosis.wording import duration, percent, size

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
    batch_size: float | None = None,
    framework: str | None = None,
    already_open: bool = False,
) -> Answer:
    if framework in RESERVING:
        return Abstention((f"memory in use as {framework} itself counts it",))
    if not gpu_memory_total_bytes > 0:
        return Abstention(("gpu_memory_total_bytes",))
    if len(gpu_memory_used_bytes.values) < FEWEST_READINGS:
        return Abstention((f"at least {FEWEST_READINGS} readings",))

    share = highest(gpu_memory_used_bytes) / gpu_memory_total_bytes
    if share >= (FULL_RELEASE_SHARE if already_open else FULL_SHARE):
        return _nearly_full(share, gpu_memory_total_bytes, batch_size, framework)

    growth = steady_growth(gpu_memory_used_bytes)
    if growth is None or not _fills_soon(growth, gpu_memory_total_bytes):
        return None
    return _keeps_growing(growth, share, gpu_memory_total_bytes, batch_size, framework)


def _fills_soon(growth: Growth, total_bytes: float) -> bool:
    notable = min(NOTABLE_GROWTH_BYTES, NOTABLE_GROWTH_SHARE * total_bytes)
    return (
        growth.total >= notable and growth.seconds_until(total_bytes) <= growth.seconds
    )


def _nearly_full(
    share: float, total_bytes: float, batch_size: float | None, framework: str | None
) -> Finding:
    return Finding(
        severity=Severity.CRITICAL if share >= CRITICAL_SHARE else Severity.WARNING,
        summary=(
            f"{size(share * total_bytes)} of {size(total_bytes)} GPU memory were in use"
            f" at the highest: {size((1 - share) * total_bytes)} are left before the run"
            " ends with an out-of-memory error."
        ),
        evidence=(_highest(share),),
        recommendations=_recommendations(batch_size, framework),
        disproof=(
            "Ask the framework how much of its memory is allocated and not only kept:"
            " if that is far below, there is room."
        ),
        quality=SAMPLED,
        # At the limit memory is nearly full by definition; more is worse, not surer.
        margin=max(0.8, margin_towards(share, FULL_SHARE, 1.0)),
        corroboration=ALONE,
    )


def _keeps_growing(
    growth: Growth,
    share: float,
    total_bytes: float,
    batch_size: float | None,
    framework: str | None,
) -> Finding:
    left = growth.seconds_until(total_bytes)
    return Finding(
        title="GPU memory keeps growing and will be full",
        severity=Severity.WARNING,
        summary=(
            f"GPU memory grew by {size(growth.total)} in {duration(growth.seconds)}. At"
            f" this pace it is full in {duration(left)}."
        ),
        evidence=(
            _highest(share),
            Evidence(
                "gpu_memory_used_bytes",
                "growth per hour",
                growth.per_second * 3600,
                "B",
            ),
            Evidence(
                "gpu_memory_used_bytes", "time until full", left, "s", growth.seconds
            ),
        ),
        recommendations=(
            Recommendation(
                "Look for tensors that are kept: losses added up with their graph,"
                " outputs in lists, caches without an end.",
                code="total_loss += loss.item()" if framework == "pytorch" else "",
            ),
            *_recommendations(batch_size, framework),
        ),
        disproof="Watch the memory for as long again: if it levels off, nothing leaks.",
        quality=SAMPLED,
        margin=margin_towards(growth.seconds - left, 0.0, growth.seconds),
        corroboration=ALONE,
    )


def _highest(share: float) -> Evidence:
    return Evidence(
        "gpu_memory_used_bytes",
        "highest, share of the GPU's memory",
        share,
        "share",
        FULL_SHARE,
    )


def _recommendations(
    batch_size: float | None, framework: str | None
) -> tuple[Recommendation, ...]:
    half = f"{max(1, round(batch_size / 2))}" if batch_size else "batch_size // 2"
    return (
        Recommendation(
            "Compute in 16 bits where the model allows it, or recompute activations"
            " instead of keeping them.",
            code=memory_line(framework),
        ),
        Recommendation(
            "Halve the batch and add up the gradients of two, which keeps the result and"
            " costs some speed.",
            current=f"{batch_size:g}" if batch_size else "",
            suggested=half if batch_size else "half as large",
            code=batch_size_line(framework, half),
        ),
        Recommendation(f"Keep the highest use below {percent(FULL_SHARE)}."),
    )
