"""Training is GPU-bound.

## Detection
Steps that hardly wait for data or for other GPUs, on a GPU with an SM activity of at least
70 %. Without that counter: utilization of at least 90 % and a matching power draw.

## Why it matters
This is not a fault. The input and the host are fast enough, and only less or faster
arithmetic makes training faster.

## Limitations
Kernels that wait for each other or for memory count as work. The share of peak is known only
if the run reports the operations per example.

Catalogue: C11, healthy and compute bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import (
    margin_towards,
    typical,
    typical_or_none,
)
from tracker.diagnosis.breakdown.phases import PhaseKind, seconds_of_kind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.wording import percent
from tracker.diagnosis.hardware.achieved import Achieved, measure_achieved
from tracker.diagnosis.hardware.gpu_work import power_ratios
from tracker.diagnosis.input.waiting import measure_waiting
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    longest_wait_share: float = 0.05
    longest_communication_share: float = 0.10

    good_sm_percent: float = 70.0
    good_sm_release_percent: float = 65.0
    busy_percent: float = 90.0
    busy_release_percent: float = 85.0
    hard_power_ratio: float = 0.70
    hard_power_release_ratio: float = 0.65


@dataclass(frozen=True, slots=True)
class _Work:
    busy: float
    sm: float | None
    power: float | None  # ratio
    limits: Limits

    def is_hard(self, *, already_open: bool) -> bool:
        if self.sm is not None:
            enter, leave = (
                self.limits.good_sm_percent,
                self.limits.good_sm_release_percent,
            )
            return self.sm >= (leave if already_open else enter)
        if already_open:
            return (
                self.busy >= self.limits.busy_release_percent
                and (self.power or 0.0) >= self.limits.hard_power_release_ratio
            )
        return (
            self.busy >= self.limits.busy_percent
            and (self.power or 0.0) >= self.limits.hard_power_ratio
        )


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    gpu_utilization_percent: Samples,
    *,
    gpu_sm_active_percent: Samples | None = None,
    gpu_power_watts: Samples | None = None,
    gpu_power_mean_watts: Samples | None = None,
    gpu_power_limit_watts: Samples | None = None,
    gpu_power_limit_at_start_watts: float | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    gpu_name: str | None = None,
    gpu_compute_capability: str | None = None,
    model_flops_per_example: float | None = None,
    step_examples: Array | None = None,
    batch_size: float | None = None,
    torch_autocast: str | None = None,
    model_types: str | None = None,
    torch_matmul_precision: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    power = power_ratios(
        gpu_power_watts,
        gpu_power_mean_watts,
        gpu_power_limit_watts,
        gpu_power_limit_at_start_watts,
    )
    work = _Work(
        busy=typical(gpu_utilization_percent),
        sm=typical_or_none(gpu_sm_active_percent),
        power=typical_or_none(power),
        limits=limits,
    )
    if work.sm is None and work.power is None:
        return Abstention(("gpu_sm_active_percent", "gpu_power_watts"))

    waiting = measure_waiting(step_seconds, data_wait_seconds)
    if waiting is None or waiting.share >= limits.longest_wait_share:
        return None
    talking = seconds_of_kind(phase_seconds or {}, PhaseKind.COMMUNICATE)
    if talking is not None and (
        talking.sum() >= limits.longest_communication_share * step_seconds.sum()
    ):
        return None
    if not work.is_hard(already_open=already_open):
        return None

    achieved = measure_achieved(
        step_seconds,
        model_flops_per_example,
        gpu_name,
        step_examples=step_examples,
        batch_size=batch_size,
        torch_autocast=torch_autocast,
        model_types=model_types,
        torch_matmul_precision=torch_matmul_precision,
        gpu_compute_capability=gpu_compute_capability,
    )
    return _finding(
        work,
        waiting.share,
        achieved,
        quality=(gpu_sm_active_percent or gpu_utilization_percent).quality,
        limits=limits,
    )


def _finding(
    work: _Work,
    wait_share: float,
    achieved: Achieved | None,
    *,
    quality: float,
    limits: Limits,
) -> Finding:
    how = (
        f"SM activity is {work.sm:.0f} %"
        if work.sm is not None
        else f"GPU utilization is {work.busy:.0f} % with high power draw"
    )
    reached = f" It reaches {achieved.in_words()}." if achieved else ""
    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"{how}, and steps wait {percent(wait_share)} of their time for data."
            f" Input and host are not the limit.{reached}"
        ),
        evidence=_evidence(work, wait_share, achieved, limits),
        recommendations=(
            Recommendation(
                "No action is needed. To go faster, train in 16-bit precision, move less"
                " memory, or use more GPUs."
            ),
        ),
        disproof=(
            "Train for a minute on one batch, repeated: if steps get shorter, something"
            " other than the GPU is the limit."
        ),
        quality=quality,
        margin=(
            margin_towards(work.sm, limits.good_sm_percent, 100.0)
            if work.sm is not None
            else margin_towards(work.power or 0.0, limits.hard_power_ratio, 1.0)
        ),
        corroboration=(
            AGREEING if work.sm is None or work.busy >= limits.busy_percent else ALONE
        ),
    )


def _evidence(
    work: _Work, wait_share: float, achieved: Achieved | None, limits: Limits
) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            "gpu_utilization_percent",
            "GPU utilization, median",
            work.busy,
            "%",
            limits.busy_percent,
            Side.ABOVE,
            release=limits.busy_release_percent,
        ),
        Evidence(
            "data_wait_seconds",
            "waiting for data, share of step time",
            wait_share,
            "share",
            limits.longest_wait_share,
            Side.BELOW,
        ),
    ]
    if work.sm is not None:
        evidence.append(
            Evidence(
                "gpu_sm_active_percent",
                "SM activity, median",
                work.sm,
                "%",
                limits.good_sm_percent,
                Side.ABOVE,
                release=limits.good_sm_release_percent,
            )
        )
    if work.power is not None:
        evidence.append(
            Evidence(
                "gpu_power_watts",
                "GPU power, median, from idle (0 %) to its limit (100 %)",
                work.power,
                "share",
                limits.hard_power_ratio,
                Side.ABOVE,
                release=limits.hard_power_release_ratio,
            )
        )
    if achieved is not None:
        evidence.append(
            Evidence(
                "model_flops_per_example",
                "operations per second, share of the peak",
                achieved.share,
                "share",
            )
        )
    return tuple(evidence)
