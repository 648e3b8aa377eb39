"""The GPU slows down because of a hardware fault.

## Detection
Time in which an external signal, from the power supply or the rack, lowered the clocks, or
in which the card lowered them itself for a reason other than heat.

## Why it matters
Both reduce the clocks to half or less, and neither is normal: the causes are a weak power
supply, a loose cable, or a rack above its power budget.

## Limitations
A data center can use the power brake on purpose for a short time when its supply switches
over. Drivers without time counters report the current flag only; a single such sample is
ignored.

Catalogue: H3, hardware slowdown and power brake.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import margin_above
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
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import small_percent
from tracker.diagnosis.hardware.busy import NEVER_BUSY
from tracker.diagnosis.hardware.clocks import (
    Limited,
    clock_gain,
    clock_while_busy,
    measure_limit,
)
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Any power brake is a fault; smaller values are below the resolution of the counter.
    brake_share: float = 0.0005
    slowdown_share: float = 0.005
    slowdown_release_share: float = 0.003
    # Counters and flags differ slightly, so heat must leave this part unexplained.
    unexplained_part: float = 0.50
    critical_share: float = 0.05


def check(
    gpu_utilization_percent: Samples,
    gpu_limited_power_brake_share: Samples,
    *,
    gpu_limited_hardware_slowdown_share: Samples | None = None,
    gpu_limited_thermal_hardware_share: Samples | None = None,
    gpu_sm_clock_mhz: Samples | None = None,
    gpu_sm_clock_max_mhz: float | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    busy = gpu_utilization_percent
    brake = measure_limit(busy, gpu_limited_power_brake_share)
    slowdown = measure_limit(busy, gpu_limited_hardware_slowdown_share)
    heat = measure_limit(busy, gpu_limited_thermal_hardware_share)
    if brake is None:
        return Abstention((NEVER_BUSY,))

    # Drivers raise the slowdown flag for heat, too, which is another fault.
    unexplained = (slowdown.share if slowdown else 0.0) - (heat.share if heat else 0.0)
    least = limits.slowdown_release_share if already_open else limits.slowdown_share
    is_braked = brake.share >= limits.brake_share and not brake.is_chance
    is_slowed = (
        slowdown is not None
        and not slowdown.is_chance
        and unexplained >= max(least, limits.unexplained_part * slowdown.share)
    )
    if not is_braked and not is_slowed:
        return None

    cause = brake if is_braked or slowdown is None else slowdown
    share = max(brake.share, unexplained)
    return Finding(
        title="" if is_braked else "The GPU throttles without overheating",
        severity=(
            Severity.CRITICAL if share >= limits.critical_share else Severity.WARNING
        ),
        summary=(
            f"For {small_percent(share)} of its busy time, the GPU was slowed"
            f" {_by_whom(is_braked=is_braked)}. This never happens on healthy"
            " machines."
        ),
        evidence=_evidence(brake, unexplained if slowdown else None, limits),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Run the same job on another machine or in another slot: if that GPU is"
            " also slowed, the power supply of this one is not the cause."
        ),
        gain=clock_gain(
            busy,
            clock_mhz=clock_while_busy(gpu_sm_clock_mhz, busy),
            full_mhz=gpu_sm_clock_max_mhz,
            limited_share=share,
        ),
        explains=("gpu-clocks-are-low", "gpu-differs-from-its-peers"),
        quality=cause.quality,
        margin=margin_above(
            share, limits.brake_share if is_braked else limits.slowdown_share
        ),
        corroboration=AGREEING if is_braked and is_slowed else ALONE,
    )


def _by_whom(*, is_braked: bool) -> str:
    if is_braked:
        return "by the power brake signal of its power supply or rack"
    return "by its own hardware, without overheating"


def _evidence(
    brake: Limited, unexplained: float | None, limits: Limits
) -> tuple[Evidence, ...]:
    found = Evidence(
        "gpu_limited_power_brake_share",
        "busy time under power brake, share",
        brake.share,
        "share",
        limits.brake_share,
        Side.ABOVE,
    )
    if unexplained is None:
        return (found,)
    return (
        found,
        Evidence(
            "gpu_limited_hardware_slowdown_share",
            "busy time under hardware slowdown without heat, share",
            max(0.0, unexplained),
            "share",
            limits.slowdown_share,
            Side.ABOVE,
            release=limits.slowdown_release_share,
        ),
    )


_RECOMMENDATIONS = (
    Recommendation(
        "Check the power cables of the card, and whether the supply is strong enough"
        " for all cards at full load."
    ),
    Recommendation(
        "Ask the operator of the rack whether it was above its power budget at that time."
    ),
    Recommendation(
        "Until the repair, lower the power limit until the power brake stays off.",
        code="nvidia-smi --power-limit=<watts>",
    ),
)
