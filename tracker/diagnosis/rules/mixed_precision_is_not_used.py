"""Tensor cores are not used.

## Detection
A GPU of compute capability 7.0 or higher that works mostly in 32 bits: SM activity above 40 %,
and tensor core activity below 3 %, or below 5 % and a sixteenth of the 32-bit activity.
Without these counters: a run that reports 32-bit precision, on a busy GPU.

## Why it matters
Tensor cores multiply matrices many times faster in 16 bits and halve the memory traffic. For
most networks the results are equally good.

## Limitations
Work without matrix products (trees, sparse and graph networks, simulations) cannot use tensor
cores. Keep 32 bits if the result needs the precision. A GPU that is idle half of the time is
not judged: faster arithmetic would only make it wait longer.

Catalogue: C6, mixed precision not used.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import margin_below, typical, typical_or_none
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    COARSE,
    CONTRADICTED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import ON_PYTORCH, mixed_precision_line
from tracker.diagnosis.engine.speedup import gain_of_share
from tracker.diagnosis.hardware.peaks import (
    AMPERE,
    capability_of,
    peak_of,
    precision_of,
)
from tracker.diagnosis.signals import Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    ampere: float = AMPERE

    min_capability: float = 7.0
    busy_gpu_percent: float = 50.0

    low_tensor_percent: float = 3.0
    low_tensor_release_percent: float = 5.0
    busy_sm_percent: float = 40.0
    # Next to this much 32-bit arithmetic, a slightly higher activity is still not the
    # main work: attention kernels use tensor cores even for float32.
    beside_fp32_percent: float = 5.0
    beside_fp32_release_percent: float = 6.0
    of_fp32: float = 1 / 16
    # With less 32-bit arithmetic, other work keeps the multiprocessors busy.
    min_fp32_percent: float = 10.0

    # In work that waits for memory, 16 bits save half.
    busy_memory_percent: float = 60.0
    factor_of_memory: float = 2.0


@dataclass(frozen=True, slots=True)
class _Counters:
    """Medians in percent; None if the card has no such counter."""

    sm: float | None
    tensor: float | None
    fp32: float | None
    dram: float | None
    limits: Limits

    def show_no_tensor_cores(self, *, already_open: bool) -> bool:
        limit = self.tensor_release if already_open else self.tensor_limit
        if self.sm is None or self.tensor is None:
            return False
        is_other_work = (
            self.fp32 is not None and self.fp32 < self.limits.min_fp32_percent
        )
        return (
            self.tensor < limit
            and self.sm > self.limits.busy_sm_percent
            and not is_other_work
        )

    @property
    def tensor_limit(self) -> float:
        return self._limit(
            self.limits.low_tensor_percent, self.limits.beside_fp32_percent
        )

    @property
    def tensor_release(self) -> float:
        return self._limit(
            self.limits.low_tensor_release_percent,
            self.limits.beside_fp32_release_percent,
        )

    def _limit(self, alone: float, beside_fp32: float) -> float:
        return min(beside_fp32, max(alone, self.limits.of_fp32 * (self.fp32 or 0.0)))


def check(
    gpu_compute_capability: str,
    gpu_utilization_percent: Samples,
    *,
    gpu_sm_active_percent: Samples | None = None,
    gpu_tensor_active_percent: Samples | None = None,
    gpu_fp32_active_percent: Samples | None = None,
    gpu_dram_active_percent: Samples | None = None,
    gpu_name: str | None = None,
    torch_autocast: str | None = None,
    model_types: str | None = None,
    torch_matmul_precision: str | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    capability = capability_of(gpu_compute_capability)
    if capability is None:
        return Abstention(("gpu_compute_capability",))
    if capability < limits.min_capability:
        return None
    busy = typical(gpu_utilization_percent)
    if not busy >= limits.busy_gpu_percent:
        return None

    precision = precision_of(
        torch_autocast,
        model_types,
        torch_matmul_precision,
        capability,
        ampere=limits.ampere,
    )
    counters = _Counters(
        sm=typical_or_none(gpu_sm_active_percent),
        tensor=typical_or_none(gpu_tensor_active_percent),
        fp32=typical_or_none(gpu_fp32_active_percent),
        dram=typical_or_none(gpu_dram_active_percent),
        limits=limits,
    )
    if counters.tensor is None and precision is None:
        return Abstention(("gpu_tensor_active_percent", "torch_autocast"))
    is_counted = counters.show_no_tensor_cores(already_open=already_open)
    is_said = precision in ("float32", "tf32")
    is_half = precision is not None and not is_said
    if is_half or not (is_counted or is_said):
        # In 16-bit runs, idle tensor cores are caused by shapes, not by precision.
        return None

    quality, margin = COARSE, 1.0
    if is_counted and gpu_tensor_active_percent:
        quality = gpu_tensor_active_percent.quality
        margin = margin_below(counters.tensor or 0.0, counters.tensor_limit)
    return Finding(
        title="" if is_counted else "Training runs in 32-bit precision",
        severity=Severity.WARNING,
        summary=_summary(counters, precision, is_counted=is_counted),
        evidence=_evidence(counters, busy, limits),
        recommendations=_recommendations(precision, capability, framework, limits),
        disproof=(
            "Train a few hundred steps in 16 bits: if they take as long as now, matrix"
            " products are not the limit."
        ),
        gain=_gain(counters, gpu_name, precision, busy, limits) if is_counted else None,
        explains=("gpu-reaches-little-of-its-peak",),
        comes_after=(
            "data-wait-dominates",
            "launching-work-limits-the-gpu",
            "gpu-and-cpu-are-both-idle",
        ),
        quality=quality,
        margin=margin,
        corroboration=_corroboration(counters, is_counted=is_counted, is_said=is_said),
    )


def _corroboration(counters: _Counters, *, is_counted: bool, is_said: bool) -> float:
    if is_counted and is_said:
        return AGREEING
    # Convolutions may use tensor cores in TF32 by default.
    uses_them = counters.tensor is not None and counters.tensor >= counters.tensor_limit
    return CONTRADICTED if is_said and uses_them else ALONE


def _summary(counters: _Counters, precision: str | None, *, is_counted: bool) -> str:
    said = {
        "float32": " The run uses float32.",
        "tf32": " The run uses TF32.",
    }.get(precision or "", "")
    if not is_counted:
        return f"The GPU has 16-bit tensor cores.{said}"
    return (
        f"SM activity is {counters.sm:.0f} %, and tensor core activity is"
        f" {counters.tensor:.1f} %.{said}"
    )


def _evidence(counters: _Counters, busy: float, limits: Limits) -> tuple[Evidence, ...]:
    rows = (
        (
            "gpu_tensor_active_percent",
            "tensor core activity",
            counters.tensor,
            counters.tensor_limit,
            Side.BELOW,
        ),
        (
            "gpu_sm_active_percent",
            "SM activity",
            counters.sm,
            limits.busy_sm_percent,
            Side.ABOVE,
        ),
        (
            "gpu_fp32_active_percent",
            "FP32 activity",
            counters.fp32,
            limits.min_fp32_percent,
            Side.ABOVE,
        ),
        (
            "gpu_utilization_percent",
            "GPU utilization",
            busy,
            limits.busy_gpu_percent,
            Side.ABOVE,
        ),
    )
    return tuple(
        Evidence(signal, f"{subject}, median", value, "%", limit, side)
        for signal, subject, value, limit, side in rows
        if value is not None
    )


def _gain(
    counters: _Counters,
    gpu_name: str | None,
    precision: str | None,
    busy: float,
    limits: Limits,
) -> Gain | None:
    peak = peak_of(gpu_name)
    if counters.fp32 is None or not counters.sm or peak is None:
        return None
    if counters.dram is not None and counters.dram >= limits.busy_memory_percent:
        factor = limits.factor_of_memory
    else:
        factor = peak.of("float16") / peak.of(precision or "float32")
    eligible = min(1.0, counters.fp32 / counters.sm) * busy / 100
    return gain_of_share(
        eligible * (1.0 - 1.0 / max(1.0, factor)),
        f"Arithmetic that 16 bits would save, at {factor:.1f} times the speed,",
    )


def _recommendations(
    precision: str | None, capability: float, framework: str | None, limits: Limits
) -> tuple[Recommendation, ...]:
    half = "bfloat16" if capability >= limits.ampere else "float16"
    scaled = (
        ""
        if half == "bfloat16"
        else " Scale the loss, and check that its scale does not keep falling."
    )
    recommendations = [
        Recommendation(
            f"Compute in mixed precision: products in {half}, weights and sums in 32"
            f" bits.{scaled} Compare the loss at equal steps afterwards.",
            current=precision or "32 bits",
            suggested=half,
            code=mixed_precision_line(framework, half),
        )
    ]
    if capability >= limits.ampere and precision != "tf32" and framework in ON_PYTORCH:
        recommendations.insert(
            0,
            Recommendation(
                "As a first step, let 32-bit matrix products use TF32: one line, and"
                " no change to the model.",
                current="highest",
                suggested="high",
                code='torch.set_float32_matmul_precision("high")',
            ),
        )
    return tuple(recommendations)
