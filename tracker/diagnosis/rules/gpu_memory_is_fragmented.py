"""GPU memory is fragmented.

## What it looks for
An allocator that holds half as much again as its tensors needed at their highest, and
30 % and more of the card, and that had to give memory back to get some.

## Why it matters
What lies between the pieces is lost: the run ends with an out-of-memory error although
there is room, and each time memory is given back the GPU has to stand still.

## When it is wrong
What a large step needed once is held, and may be needed again: an evaluation with
larger batches looks the same if the script resets the peak.
Where the peak is not known, what was allocated at the moments of reading stands for
it, and the finding is less sure.

Catalogue: M3, fragmentation.
"""

from __future__ import annotations

from tracker.diagnosis.finding import (
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
from tracker.diagnosis.rule import Span
from tracker.diagnosis.signals import Samples
from tracker.diagnosis.statistics import (
    highest,
    margin_above,
    typical,
    typical_or_none,
)
from tracker.diagnosis.wording import count, size

SPAN = Span.STAGE

HELD_FACTOR = 1.5
HELD_RELEASE_FACTOR = 1.4
CRITICAL_FACTOR = 2.0
HELD_SHARE = 0.30
FEWEST_RETRIES = 1

# In pieces that cannot be given back: the pieces are the reason.
SPLIT_SHARE = 0.10


def check(
    gpu_allocator_reserved_bytes: Samples,
    gpu_allocator_allocated_bytes: Samples,
    gpu_allocator_retries: Samples,
    gpu_memory_total_bytes: float,
    *,
    gpu_allocator_peak_bytes: Samples | None = None,
    gpu_allocator_inactive_split_bytes: Samples | None = None,
    already_open: bool = False,
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
        factor < (HELD_RELEASE_FACTOR if already_open else HELD_FACTOR)
        or held < HELD_SHARE * gpu_memory_total_bytes
        or not retries >= FEWEST_RETRIES
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
    )


def _finding(
    *,
    held: float,
    peak: float,
    total: float,
    retries: float,
    split: float,
    quality: float,
) -> Finding:
    factor = held / peak
    return Finding(
        severity=Severity.CRITICAL if factor >= CRITICAL_FACTOR else Severity.WARNING,
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
                HELD_FACTOR,
                Side.ABOVE,
                release=HELD_RELEASE_FACTOR,
            ),
            Evidence(
                "gpu_allocator_reserved_bytes",
                "reserved memory, share of GPU memory",
                held / total,
                "share",
                HELD_SHARE,
                Side.ABOVE,
            ),
            Evidence(
                "gpu_allocator_retries",
                "allocator retries, peak",
                retries,
                "times",
                FEWEST_RETRIES,
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
            "Run with pieces that can grow: if as much is held and as often given back,"
            " the pieces are not the reason."
        ),
        explains=("gpu-memory-is-nearly-full",),
        quality=quality,
        margin=margin_above(factor, HELD_FACTOR),
        corroboration=AGREEING if split >= SPLIT_SHARE * held else ALONE,
    )


_RECOMMENDATIONS = (
    Recommendation(
        "Let the allocator grow its pieces; it has to be set before the script starts.",
        code='PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True" python train.py',
    ),
    Recommendation(
        "Give batches few different shapes: pad them to multiples, or sort them by"
        " length.",
        code="DataLoader(dataset, batch_sampler=by_length, drop_last=True)",
    ),
    Recommendation(
        "Do the largest step first, so that its pieces are there for all others."
    ),
)
