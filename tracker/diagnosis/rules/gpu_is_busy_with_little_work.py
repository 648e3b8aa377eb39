"""High GPU utilization, but little work.

## Detection
GPU utilization of at least 85 %, while SM activity is below 40 %. Cards without that counter
are judged by their power: in 60 % of the samples it is below 45 % of the range from idle to
the limit.

## Why it matters
Utilization counts a GPU as busy while any kernel runs. It can be 100 % while most of the card
is idle, and then hides that there is room for a speedup.

## Limitations
Work that moves much memory draws little power and belongs to the rule about memory bandwidth.
Heat or the power supply can lower the clocks, which lowers the power, too; such a GPU is not
judged by its power. Cards with a low power limit reach it with less work.

Catalogue: C4, busy but little work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import (
    margin_below,
    margin_towards,
    typical,
    typical_or_none,
)
from tracker.diagnosis.breakdown.phases import PhaseKind, seconds_of_kind
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
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
from tracker.diagnosis.engine.frameworks import batch_size_line, compile_line
from tracker.diagnosis.engine.speedup import gain_of_share
from tracker.diagnosis.hardware.gpu_work import power_ratios, share_below
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    busy_percent: float = 85.0
    busy_release_percent: float = 80.0

    low_sm_percent: float = 40.0
    low_sm_release_percent: float = 45.0
    good_sm_percent: float = 80.0

    low_power_ratio: float = 0.45
    low_power_readings: float = 0.60
    low_power_release_readings: float = 0.50
    # At this power ratio the card works hard regardless of the other signals.
    high_power_ratio: float = 0.70

    # From this utilization on, memory is the limit.
    busy_memory_percent: float = 60.0
    communication_share: float = 0.10
    # Above this limited share, power does not indicate the load.
    limited_share: float = 0.05


@dataclass(frozen=True, slots=True)
class _Work:
    busy: float
    sm: float | None
    power: Samples | None  # ratios
    limits: Limits

    @property
    def low_power_readings(self) -> float:
        return (
            share_below(self.power, self.limits.low_power_ratio) if self.power else 0.0
        )

    def is_little(self, *, already_open: bool) -> bool:
        if self.sm is not None:
            limit = (
                self.limits.low_sm_release_percent
                if already_open
                else self.limits.low_sm_percent
            )
            return self.sm < limit
        enter, leave = (
            self.limits.low_power_readings,
            self.limits.low_power_release_readings,
        )
        return self.low_power_readings >= (leave if already_open else enter)


def check(
    gpu_utilization_percent: Samples,
    *,
    gpu_sm_active_percent: Samples | None = None,
    gpu_dram_active_percent: Samples | None = None,
    gpu_memory_utilization_percent: Samples | None = None,
    gpu_power_watts: Samples | None = None,
    gpu_power_mean_watts: Samples | None = None,
    gpu_power_limit_watts: Samples | None = None,
    gpu_power_limit_at_start_watts: float | None = None,
    gpu_limited_thermal_share: Samples | None = None,
    gpu_limited_power_brake_share: Samples | None = None,
    step_seconds: Array | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    model_is_compiled: float | None = None,
    batch_size: float | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    work = _Work(
        busy=typical(gpu_utilization_percent),
        sm=typical_or_none(gpu_sm_active_percent),
        power=power_ratios(
            gpu_power_watts,
            gpu_power_mean_watts,
            gpu_power_limit_watts,
            gpu_power_limit_at_start_watts,
        ),
        limits=limits,
    )
    if work.busy < (
        limits.busy_release_percent if already_open else limits.busy_percent
    ):
        return None
    if work.sm is None and work.power is None:
        return Abstention(("gpu_sm_active_percent", "gpu_power_watts"))
    limited = (gpu_limited_thermal_share, gpu_limited_power_brake_share)
    if work.sm is None and any(
        _is_notable(share, limits.limited_share) for share in limited
    ):
        return Abstention(("a GPU whose clocks are not limited",))

    moves_memory = _is_notable(gpu_dram_active_percent, limits.busy_memory_percent) or (
        gpu_dram_active_percent is None
        and _is_notable(gpu_memory_utilization_percent, limits.busy_memory_percent)
    )
    if moves_memory or not work.is_little(already_open=already_open):
        return None
    return _finding(
        work,
        quality=_quality(work, gpu_utilization_percent, gpu_sm_active_percent),
        recommendations=(
            *_about_communication(step_seconds, phase_seconds, limits),
            *_recommendations(model_is_compiled, batch_size, framework),
        ),
        limits=limits,
    )


def _is_notable(samples: Samples | None, limit: float) -> bool:
    value = typical_or_none(samples)
    return value is not None and value >= limit


def _quality(work: _Work, utilization: Samples, sm: Samples | None) -> float:
    if work.sm is not None and sm is not None:
        return sm.quality
    return min(utilization.quality, work.power.quality if work.power else 0.0)


def _finding(
    work: _Work,
    *,
    quality: float,
    recommendations: tuple[Recommendation, ...],
    limits: Limits,
) -> Finding:
    if work.sm is not None:
        what = f"SM activity is only {work.sm:.0f} %"
        margin = margin_below(work.sm, limits.low_sm_percent)
    else:
        what = (
            f"power stays below {100 * limits.low_power_ratio:.0f} % of the way from idle"
            " to its limit"
        )
        margin = margin_towards(work.low_power_readings, limits.low_power_readings, 1.0)
    return Finding(
        severity=Severity.WARNING,
        summary=(f"GPU utilization is {work.busy:.0f} %, but {what}."),
        evidence=_evidence(work, limits),
        recommendations=recommendations,
        disproof=(
            "Train a few hundred steps with twice the batch: if they take twice as long,"
            " the GPU is at its limit."
        ),
        gain=_gain(work, limits),
        explains=("gpu-reaches-little-of-its-peak",),
        comes_after=("data-wait-dominates",),
        quality=quality,
        margin=margin,
        corroboration=_corroboration(work, limits),
    )


def _corroboration(work: _Work, limits: Limits) -> float:
    if work.sm is None or work.power is None:
        return ALONE
    ratio = typical(work.power)
    if ratio >= limits.high_power_ratio:
        return CONTRADICTED
    return AGREEING if ratio < limits.low_power_ratio else ALONE


def _gain(work: _Work, limits: Limits) -> Gain | None:
    if work.sm is None:
        return None
    return gain_of_share(
        1.0 - work.sm / limits.good_sm_percent,
        f"Idle multiprocessors, {limits.good_sm_percent:.0f} % of which good code"
        " uses,",
    )


def _evidence(work: _Work, limits: Limits) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            "gpu_utilization_percent",
            "GPU utilization, median",
            work.busy,
            "%",
            limits.busy_percent,
            Side.ABOVE,
            release=limits.busy_release_percent,
        )
    ]
    if work.sm is not None:
        evidence.append(
            Evidence(
                "gpu_sm_active_percent",
                "SM activity, median",
                work.sm,
                "%",
                limits.low_sm_percent,
                Side.BELOW,
                release=limits.low_sm_release_percent,
            )
        )
    if work.power is not None:
        evidence.append(
            Evidence(
                "gpu_power_watts",
                "GPU power, median, from idle (0 %) to its limit (100 %)",
                typical(work.power),
                "share",
                limits.low_power_ratio,
                Side.BELOW,
            )
        )
    return tuple(evidence)


def _about_communication(
    step_seconds: Array | None,
    phase_seconds: Mapping[str, Array] | None,
    limits: Limits,
) -> tuple[Recommendation, ...]:
    seconds = seconds_of_kind(phase_seconds or {}, PhaseKind.COMMUNICATE)
    if seconds is None or step_seconds is None:
        return ()
    share = float(seconds.sum() / step_seconds.sum())
    if not share >= limits.communication_share:
        return ()
    return (
        Recommendation(
            f"{100 * share:.0f} % of the time is communication, and a kernel that"
            " waits for other GPUs counts as busy: fix this first."
        ),
    )


def _recommendations(
    model_is_compiled: float | None, batch_size: float | None, framework: str | None
) -> tuple[Recommendation, ...]:
    double = f"{2 * batch_size:g}" if batch_size else "2 * batch_size"
    larger = Recommendation(
        "Give each kernel more to do: try a larger batch.",
        current=f"{batch_size:g}" if batch_size else "",
        suggested=double if batch_size else "twice as large",
        code=batch_size_line(framework, double),
    )
    if model_is_compiled:
        return (larger,)
    return (
        larger,
        Recommendation(
            "Fuse many small kernels into one: compile the model.",
            code=compile_line(framework),
        ),
    )
