"""GPU memory is fragmented.

## Detection
An allocator that reserves 1.5 times the peak of its tensors and at least 30 % of the card,
and that had to free cached memory for an allocation.

## Why it matters
The gaps between the blocks are lost: the run ends with an out-of-memory error although
memory is free, and each release of cached memory stalls the GPU.

## Limitations
A single large step leaves memory reserved that may be needed again: an evaluation with larger
batches looks the same if the script resets the peak.
Without a known peak, the sampled allocations replace it, and the finding is less certain.

Catalogue: M3, fragmentation.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import (
    highest,
    margin_above,
    typical,
    typical_or_none,
)
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    COARSE,
    MEASURED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import count, size
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    held_factor: float = 1.5
    held_release_factor: float = 1.4
    critical_factor: float = 2.0
    held_share: float = 0.30
    fewest_retries: int = 1

    # Share in split blocks that cannot be released; they are then the cause.
    split_share: float = 0.10


def check(
    gpu_allocator_reserved_bytes: Samples,
    gpu_allocator_allocated_bytes: Samples,
    gpu_allocator_retries: Samples,
    gpu_memory_total_bytes: float,
    *,
    gpu_allocator_peak_bytes: Samples | None = None,
    gpu_allocator_inactive_split_bytes: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if not gpu_memory_total_bytes > 0:
        return Abstention(("gpu_memory_total_bytes",))
    held = typical(gpu_allocator_reserved_bytes)
    peak = highest(gpu_allocator_peak_bytes or gpu_allocator_allocated_bytes)
    if not peak > 0:
        return None

    factor = held / peak
    retries = highest(gpu_allocator_retries)
    if (
        factor < (limits.held_release_factor if already_open else limits.held_factor)
        or held < limits.held_share * gpu_memory_total_bytes
        or not retries >= limits.fewest_retries
    ):
        return None

    return _finding(
        held=held,
        peak=peak,
        total=gpu_memory_total_bytes,
        retries=retries,
        split=typical_or_none(gpu_allocator_inactive_split_bytes) or 0.0,
        quality=gpu_allocator_reserved_bytes.quality
        * (MEASURED if gpu_allocator_peak_bytes else COARSE),
        limits=limits,
    )


def _finding(
    *,
    held: float,
    peak: float,
    total: float,
    retries: float,
    split: float,
    quality: float,
    limits: Limits,
) -> Finding:
    factor = held / peak
    return Finding(
        severity=(
            Severity.CRITICAL if factor >= limits.critical_factor else Severity.WARNING
        ),
        summary=(
            f"The allocator reserves {size(held)}; tensors never needed more than"
            f" {size(peak)}. It had to free cached memory"
            f" {count(retries, 'time', 'times')}."
        ),
        evidence=(
            Evidence(
                "gpu_allocator_reserved_bytes",
                "reserved memory, relative to the peak of tensors",
                factor,
                "",
                limits.held_factor,
                Side.ABOVE,
                release=limits.held_release_factor,
            ),
            Evidence(
                "gpu_allocator_reserved_bytes",
                "reserved memory, share of GPU memory",
                held / total,
                "share",
                limits.held_share,
                Side.ABOVE,
            ),
            Evidence(
                "gpu_allocator_retries",
                "allocator retries, peak",
                retries,
                "times",
                limits.fewest_retries,
                Side.ABOVE,
            ),
            Evidence(
                "gpu_allocator_inactive_split_bytes",
                "inactive split memory, median",
                split,
                "B",
            ),
        ),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Run with expandable segments: if as much memory is reserved and freed as"
            " often, split blocks are not the cause."
        ),
        explains=("gpu-memory-is-nearly-full",),
        quality=quality,
        margin=margin_above(factor, limits.held_factor),
        corroboration=AGREEING if split >= limits.split_share * held else ALONE,
    )


_RECOMMENDATIONS = (
    Recommendation(
        "Enable expandable segments; set the variable before the script starts.",
        code='PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True" python train.py',
    ),
    Recommendation(
        "Use few different batch shapes: pad them to multiples, or sort them by"
        " length.",
        code="DataLoader(dataset, batch_sampler=by_length, drop_last=True)",
    ),
    Recommendation(
        "Run the largest step first, so that all other steps reuse its blocks."
    ),
)
