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

BUSY_PERCENT = 85.0
BUSY_RELEASE_PERCENT = 80.0

LOW_SM_PERCENT = 40.0
LOW_SM_RELEASE_PERCENT = 45.0
GOOD_SM_PERCENT = 80.0

LOW_POWER_RATIO = 0.45
LOW_POWER_READINGS = 0.60
LOW_POWER_RELEASE_READINGS = 0.50
# At this power ratio the card works hard regardless of the other signals.
HIGH_POWER_RATIO = 0.70

# From this utilization on, memory is the limit.
BUSY_MEMORY_PERCENT = 60.0
COMMUNICATION_SHARE = 0.10
# Above this limited share, power does not indicate the load.
LIMITED_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class _Work:
    busy: float
    sm: float | None
    power: Samples | None  # ratios

    @property
    def low_power_readings(self) -> float:
        return share_below(self.power, LOW_POWER_RATIO) if self.power else 0.0

    def is_little(self, *, already_open: bool) -> bool:
        if self.sm is not None:
            limit = LOW_SM_RELEASE_PERCENT if already_open else LOW_SM_PERCENT
            return self.sm < limit
        enter, leave = LOW_POWER_READINGS, LOW_POWER_RELEASE_READINGS
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
    )
    if work.busy < (BUSY_RELEASE_PERCENT if already_open else BUSY_PERCENT):
        return None
    if work.sm is None and work.power is None:
        return Abstention(("gpu_sm_active_percent", "gpu_power_watts"))
    limited = (gpu_limited_thermal_share, gpu_limited_power_brake_share)
    if work.sm is None and any(_is_notable(share, LIMITED_SHARE) for share in limited):
        return Abstention(("a GPU whose clocks are not limited",))

    moves_memory = _is_notable(gpu_dram_active_percent, BUSY_MEMORY_PERCENT) or (
        gpu_dram_active_percent is None
        and _is_notable(gpu_memory_utilization_percent, BUSY_MEMORY_PERCENT)
    )
    if moves_memory or not work.is_little(already_open=already_open):
        return None
    return _finding(
        work,
        quality=_quality(work, gpu_utilization_percent, gpu_sm_active_percent),
        recommendations=(
            *_about_communication(step_seconds, phase_seconds),
            *_recommendations(model_is_compiled, batch_size, framework),
        ),
    )


def _is_notable(samples: Samples | None, limit: float) -> bool:
    value = typical_or_none(samples)
    return value is not None and value >= limit


def _quality(work: _Work, utilization: Samples, sm: Samples | None) -> float:
    if work.sm is not None and sm is not None:
        return sm.quality
    return min(utilization.quality, work.power.quality if work.power else 0.0)


def _finding(
    work: _Work, *, quality: float, recommendations: tuple[Recommendation, ...]
) -> Finding:
    if work.sm is not None:
        what = f"SM activity is only {work.sm:.0f} %"
        margin = margin_below(work.sm, LOW_SM_PERCENT)
    else:
        what = (
            f"power stays below {100 * LOW_POWER_RATIO:.0f} % of the way from idle to"
            " its limit"
        )
        margin = margin_towards(work.low_power_readings, LOW_POWER_READINGS, 1.0)
    return Finding(
        severity=Severity.WARNING,
        summary=(f"GPU utilization is {work.busy:.0f} %, but {what}."),
        evidence=_evidence(work),
        recommendations=recommendations,
        disproof=(
            "Train a few hundred steps with twice the batch: if they take twice as long,"
            " the GPU is at its limit."
        ),
        gain=_gain(work),
        explains=("gpu-reaches-little-of-its-peak",),
        comes_after=("data-wait-dominates",),
        quality=quality,
        margin=margin,
        corroboration=_corroboration(work),
    )


def _corroboration(work: _Work) -> float:
    if work.sm is None or work.power is None:
        return ALONE
    ratio = typical(work.power)
    if ratio >= HIGH_POWER_RATIO:
        return CONTRADICTED
    return AGREEING if ratio < LOW_POWER_RATIO else ALONE


def _gain(work: _Work) -> Gain | None:
    if work.sm is None:
        return None
    return gain_of_share(
        1.0 - work.sm / GOOD_SM_PERCENT,
        f"Idle multiprocessors, {GOOD_SM_PERCENT:.0f} % of which good code uses,",
    )


def _evidence(work: _Work) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            "gpu_utilization_percent",
            "GPU utilization, median",
            work.busy,
            "%",
            BUSY_PERCENT,
            Side.ABOVE,
            release=BUSY_RELEASE_PERCENT,
        )
    ]
    if work.sm is not None:
        evidence.append(
            Evidence(
                "gpu_sm_active_percent",
                "SM activity, median",
                work.sm,
                "%",
                LOW_SM_PERCENT,
                Side.BELOW,
                release=LOW_SM_RELEASE_PERCENT,
            )
        )
    if work.power is not None:
        evidence.append(
            Evidence(
                "gpu_power_watts",
                "GPU power, median, from idle (0 %) to its limit (100 %)",
                typical(work.power),
                "share",
                LOW_POWER_RATIO,
                Side.BELOW,
            )
        )
    return tuple(evidence)


def _about_communication(
    step_seconds: Array | None, phase_seconds: Mapping[str, Array] | None
) -> tuple[Recommendation, ...]:
    seconds = seconds_of_kind(phase_seconds or {}, PhaseKind.COMMUNICATE)
    if seconds is None or step_seconds is None:
        return ()
    share = float(seconds.sum() / step_seconds.sum())
    if not share >= COMMUNICATION_SHARE:
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
