"""A larger batch would help, but does not fit.

## Detection
A GPU that is not fully used, in steps that do not wait for data, with 85 % of its memory in
use: a larger batch would help but does not fit.

## Why it matters
The usual advice, a larger batch, ends with an out-of-memory error. Memory has to be freed
first, and some ways to free memory cost more than the larger batch gains.

## Limitations
Gradient accumulation over several batches gives the results of a large batch, but does not
load the GPU more.
A GPU may be idle for another reason: launches, synchronization, communication.
Frameworks that reserve memory in advance are not judged.

Catalogue: M9, larger batch wanted and memory full.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import (
    margin_below,
    percentile,
    typical,
    typical_or_none,
)
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
from tracker.diagnosis.engine.frameworks import RESERVING, memory_line
from tracker.diagnosis.engine.wording import percent, size
from tracker.diagnosis.hardware.gpu_memory import OFF, Need, measure_need
from tracker.diagnosis.input.waiting import measure_waiting
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    full_share: float = 0.85
    full_release_share: float = 0.80
    busy_gpu_percent: float = 70.0
    busy_gpu_release_percent: float = 75.0
    busy_sm_percent: float = 60.0
    idle_gpu_percent: float = 5.0


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    gpu_utilization_percent: Samples,
    gpu_memory_used_bytes: Samples,
    gpu_memory_total_bytes: float,
    *,
    gpu_allocator_peak_bytes: Samples | None = None,
    gpu_allocator_reserved_bytes: Samples | None = None,
    gpu_sm_active_percent: Samples | None = None,
    busiest_gpu_percent: Samples | None = None,
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
    waiting = measure_waiting(step_seconds, data_wait_seconds, busiest_gpu_percent)
    if waiting is None or waiting.is_notable(already_open=False):
        return Abstention(("steps that do not wait for data",))

    need = measure_need(
        gpu_memory_used_bytes,
        gpu_memory_total_bytes,
        peak_bytes=gpu_allocator_peak_bytes,
        reserved_bytes=gpu_allocator_reserved_bytes,
    )
    busy = typical(gpu_utilization_percent)
    active = typical_or_none(gpu_sm_active_percent)
    limit = limits.busy_gpu_release_percent if already_open else limits.busy_gpu_percent
    is_idle = busy < limit or (active is not None and active < limits.busy_sm_percent)
    takes_part = percentile(gpu_utilization_percent, 95) >= limits.idle_gpu_percent
    full = limits.full_release_share if already_open else limits.full_share
    if not takes_part or not is_idle or not need.share >= full:
        return None

    return _finding(
        need,
        busy=busy,
        active=active,
        recommendations=_recommendations(batch_size, framework, torch_autocast),
        limits=limits,
    )


def _finding(
    need: Need,
    *,
    busy: float,
    active: float | None,
    recommendations: tuple[Recommendation, ...],
    limits: Limits,
) -> Finding:
    is_half_empty = active is not None and active < limits.busy_sm_percent
    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"GPU utilization is {busy:.0f} %"
            + (f" with {active:.0f} % SM activity" if active is not None else "")
            + f", and {size(need.needed_bytes)} of {size(need.total_bytes)} GPU memory ({percent(need.share)}) is in use: a larger batch does not fit."
        ),
        evidence=(
            Evidence(
                need.signal,
                "GPU memory, peak, share of all",
                need.share,
                "share",
                limits.full_share,
                Side.ABOVE,
                release=limits.full_release_share,
            ),
            Evidence(
                "gpu_utilization_percent",
                "GPU utilization, median",
                busy,
                "%",
                limits.busy_gpu_percent,
                Side.BELOW,
                release=limits.busy_gpu_release_percent,
            ),
            *(
                (
                    Evidence(
                        "gpu_sm_active_percent",
                        "SM activity, median",
                        active,
                        "%",
                        limits.busy_sm_percent,
                        Side.BELOW,
                    ),
                )
                if active is not None
                else ()
            ),
        ),
        recommendations=recommendations,
        disproof=(
            "Train a few hundred steps with half the batch: if examples per second stay"
            " the same, the batch size is not the limit."
        ),
        comes_after=("data-wait-dominates", "too-few-loader-workers"),
        quality=min(SAMPLED, need.quality),
        margin=max(
            margin_below(busy, limits.busy_gpu_percent),
            margin_below(active, limits.busy_sm_percent) if active is not None else 0.5,
        ),
        corroboration=AGREEING if is_half_empty else ALONE,
    )


def _recommendations(
    batch_size: float | None, framework: str | None, autocast: str | None
) -> tuple[Recommendation, ...]:
    is_16_bit = autocast is not None and autocast != OFF
    twice = {
        "current": f"{batch_size:g}" if batch_size else "",
        "suggested": f"{batch_size * 2:g}" if batch_size else "",
    }
    first = Recommendation(
        "Compute in 16 bits: activations take half the memory, about twice the batch fits,"
        " and the arithmetic is faster.",
        code=memory_line(framework) if framework != "jax" else "",
        **twice,
    )
    return (
        *(() if is_16_bit else (first,)),
        Recommendation(
            "If you need the results of a large batch, accumulate the gradients of"
            " several small ones. This alone is not faster."
        ),
        Recommendation(
            "Recompute activations (checkpointing) instead of storing them: steps take 20 to 40 %"
            " longer, so the larger batch must gain more than that.",
            code=(
                "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)"
                if framework == "pytorch"
                else ""
            ),
        ),
        Recommendation(
            "Shard parameters and optimizer state over several GPUs.",
            code=(
                "torch.distributed.fsdp.fully_shard(model)"
                if framework == "pytorch"
                else ""
            ),
        ),
    )
