"""GPU memory bandwidth is the limit.

## Detection
GPU memory bandwidth use of at least 60 % with tensor core activity below 30 %. On cards
without these counters: memory controller utilization of at least 60 % at less than 80 % of
the card's power.

## Why it matters
The multiprocessors wait for data, so faster arithmetic does not help. Moving fewer bytes
does: smaller types, and fewer passes over the same tensors.

## Limitations
Memory controller utilization is a coarse measure and counts slow accesses as busy time.
Some work cannot move fewer bytes: embeddings, optimizers of large models, text decoding in
small batches. Only for these, a larger batch moves fewer bytes per example.

Catalogue: C5, memory-bandwidth bound.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import (
    average,
    margin_towards,
    typical,
    typical_or_none,
)
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    COARSE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import (
    compile_line,
    fused_optimizer_line,
    mixed_precision_line,
)
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.hardware.gpu_work import power_ratios
from tracker.diagnosis.hardware.peaks import precision_of
from tracker.diagnosis.signals import Array, Samples

HALVES = ("bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    busy_memory_percent: float = 60.0
    busy_memory_release_percent: float = 55.0
    low_tensor_percent: float = 30.0
    low_power_ratio: float = 0.80

    # 16-bit values instead of 32-bit values halve the bytes.
    saved_by_half: float = 0.50


@dataclass(frozen=True, slots=True)
class _Memory:
    percent: float
    evidence: tuple[Evidence, ...]
    quality: float
    corroboration: float


def check(
    gpu_utilization_percent: Samples,
    *,
    gpu_dram_active_percent: Samples | None = None,
    gpu_tensor_active_percent: Samples | None = None,
    gpu_memory_utilization_percent: Samples | None = None,
    gpu_power_watts: Samples | None = None,
    gpu_power_mean_watts: Samples | None = None,
    gpu_power_limit_watts: Samples | None = None,
    gpu_power_limit_at_start_watts: float | None = None,
    step_seconds: Array | None = None,
    torch_autocast: str | None = None,
    model_types: str | None = None,
    model_is_compiled: float | None = None,
    optimizer_is_fused: float | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    power = power_ratios(
        gpu_power_watts,
        gpu_power_mean_watts,
        gpu_power_limit_watts,
        gpu_power_limit_at_start_watts,
    )
    limit = (
        limits.busy_memory_release_percent
        if already_open
        else limits.busy_memory_percent
    )
    if gpu_dram_active_percent is not None:
        memory = _by_counters(
            gpu_dram_active_percent, gpu_tensor_active_percent, limit, limits
        )
    elif gpu_memory_utilization_percent is not None and power is not None:
        memory = _by_driver(gpu_memory_utilization_percent, power, limit, limits)
    else:
        return Abstention(("gpu_dram_active_percent",))
    if memory is None:
        return None

    precision = precision_of(torch_autocast, model_types, None, None)
    is_half = precision in HALVES
    busy = typical(gpu_utilization_percent)
    return Finding(
        severity=Severity.NOTICE if is_half else Severity.WARNING,
        summary=(
            f"GPU memory was busy {memory.percent:.0f} % of the time: the"
            " multiprocessors wait for it."
        ),
        evidence=(
            *memory.evidence,
            Evidence("gpu_utilization_percent", "GPU utilization, median", busy, "%"),
        ),
        recommendations=_recommendations(
            framework,
            is_half=is_half,
            is_compiled=bool(model_is_compiled),
            is_fused=bool(optimizer_is_fused),
        ),
        disproof=(
            "Train a few hundred steps with the GPU's clock lowered by a fifth: if they"
            " take as long as now, its memory is the limit; if longer, it is not."
        ),
        gain=None if is_half else _gain(step_seconds, memory, limits),
        explains=("gpu-reaches-little-of-its-peak",),
        comes_after=("data-wait-dominates",),
        quality=memory.quality,
        margin=margin_towards(memory.percent, limits.busy_memory_percent, 100.0),
        corroboration=memory.corroboration,
    )


def _by_counters(
    dram: Samples, tensor_percent: Samples | None, limit: float, limits: Limits
) -> _Memory | None:
    percent = typical(dram)
    tensor = typical_or_none(tensor_percent)
    if percent < limit or (tensor is not None and tensor >= limits.low_tensor_percent):
        return None
    evidence = [
        Evidence(
            "gpu_dram_active_percent",
            "memory bandwidth in use, median",
            percent,
            "%",
            limits.busy_memory_percent,
            Side.ABOVE,
            release=limits.busy_memory_release_percent,
        )
    ]
    if tensor is not None:
        evidence.append(
            Evidence(
                "gpu_tensor_active_percent",
                "tensor core activity, median",
                tensor,
                "%",
                limits.low_tensor_percent,
                Side.BELOW,
            )
        )
    return _Memory(
        percent,
        tuple(evidence),
        dram.quality,
        ALONE if tensor is None else AGREEING,
    )


def _by_driver(
    controller: Samples, power: Samples, limit: float, limits: Limits
) -> _Memory | None:
    percent = typical(controller)
    ratio = typical(power)
    if percent < limit or ratio >= limits.low_power_ratio:
        return None
    return _Memory(
        percent,
        (
            Evidence(
                "gpu_memory_utilization_percent",
                "memory controller utilization, median",
                percent,
                "%",
                limits.busy_memory_percent,
                Side.ABOVE,
                release=limits.busy_memory_release_percent,
            ),
            Evidence(
                "gpu_power_watts",
                "GPU power, median, from idle (0 %) to its limit (100 %)",
                ratio,
                "share",
                limits.low_power_ratio,
                Side.BELOW,
            ),
        ),
        # Controller time has a low resolution.
        min(COARSE, controller.quality),
        AGREEING,
    )


def _gain(step_seconds: Array | None, memory: _Memory, limits: Limits) -> Gain | None:
    if step_seconds is None:
        return None
    mean = average(step_seconds)
    if not mean > 0:
        return None
    saved = limits.saved_by_half * min(1.0, memory.percent / 100)
    return expected_gain(
        mean, (Floor(mean * (1.0 - saved), "half as many bytes to move"),)
    )


def _recommendations(
    framework: str | None, *, is_half: bool, is_compiled: bool, is_fused: bool
) -> tuple[Recommendation, ...]:
    recommendations = []
    if not is_half:
        recommendations.append(
            Recommendation(
                "Compute in 16 bits, which halves the memory traffic.",
                suggested="bfloat16",
                code=mixed_precision_line(framework, "bfloat16"),
            )
        )
    if not is_compiled:
        recommendations.append(
            Recommendation(
                "Compile the model, so that a tensor is read once for several"
                " operations.",
                code=compile_line(framework),
            )
        )
    if not is_fused:
        recommendations.append(
            Recommendation(
                "Update the parameters in one pass: use a fused optimizer.",
                code=fused_optimizer_line(framework),
            )
        )
    recommendations.append(
        Recommendation(
            "Use fused attention, and for convolutions the"
            " channels-last layout. A larger batch helps only if the weights"
            " are most of the memory traffic."
        )
    )
    return tuple(recommendations)
