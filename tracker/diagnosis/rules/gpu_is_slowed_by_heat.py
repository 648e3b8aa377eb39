"""GPU is thermally throttled.

## Detection
The share of a GPU's busy time in which the driver or the card lowered the clocks because of
heat: at least 1 % if the driver counts the time, at least 5 % if it only reports the current
flag.

## Why it matters
The card does the same work at lower clocks. In a job with several GPUs, the hottest one
limits all of them.

## Limitations
A high temperature alone is not a fault; only the driver's throttle reason counts.
A short throttling at the start of a run is warm-up and excluded.
Another limit, such as the power limit, may prevent full clocks; the gain is then below the
maximum speedup.

Catalogue: H1, thermal throttling.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import highest, margin_above
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
from tracker.diagnosis.engine.wording import small_percent
from tracker.diagnosis.hardware.busy import NEVER_BUSY
from tracker.diagnosis.hardware.clocks import (
    Limited,
    clock_gain,
    clock_while_limited,
    measure_limit,
)
from tracker.diagnosis.signals import Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    counted_share: float = 0.01
    counted_release_share: float = 0.005
    # Share of samples with the flag, if time is not counted.
    flagged_share: float = 0.05
    flagged_release_share: float = 0.03
    critical_share: float = 0.05
    flagged_critical_share: float = 0.20

    # Within this distance of the slowdown temperature, the temperature agrees with the
    # reason.
    near_celsius: float = 5.0


def check(
    gpu_utilization_percent: Samples,
    gpu_limited_thermal_software_share: Samples,
    *,
    gpu_limited_thermal_hardware_share: Samples | None = None,
    gpu_sm_clock_mhz: Samples | None = None,
    gpu_sm_clock_max_mhz: float | None = None,
    gpu_temperature_celsius: Samples | None = None,
    gpu_temperature_slowdown_celsius: float | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    limited = measure_limit(
        gpu_utilization_percent,
        gpu_limited_thermal_software_share,
        gpu_limited_thermal_hardware_share,
    )
    if limited is None:
        return Abstention((NEVER_BUSY,))
    if limited.is_chance or limited.share < _limit(
        limited, already_open=already_open, limits=limits
    ):
        return None

    clock = clock_while_limited(
        gpu_sm_clock_mhz, gpu_utilization_percent, gpu_limited_thermal_software_share
    )
    hottest = highest(gpu_temperature_celsius) if gpu_temperature_celsius else None
    limit = _limit(limited, already_open=False, limits=limits)
    critical = (
        limits.critical_share if limited.is_counted else limits.flagged_critical_share
    )
    is_hot = (
        hottest is not None
        and gpu_temperature_slowdown_celsius is not None
        and hottest >= gpu_temperature_slowdown_celsius - limits.near_celsius
    )
    at = f" It reached {hottest:.0f} °C." if hottest is not None else ""
    return Finding(
        severity=(Severity.CRITICAL if limited.share >= critical else Severity.WARNING),
        summary=(
            f"Heat lowered the clocks for {small_percent(limited.share)} of the"
            f" busy time.{at}"
        ),
        evidence=_evidence(
            limited, limit, hottest, gpu_temperature_slowdown_celsius, limits
        )
        + _clocks(clock, gpu_sm_clock_max_mhz),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Lower the power limit by a tenth for some minutes: if clocks and step"
            " times stay the same while the card gets cooler, heat is not the limit."
        ),
        gain=clock_gain(
            gpu_utilization_percent,
            clock_mhz=clock,
            full_mhz=gpu_sm_clock_max_mhz,
            limited_share=limited.share,
        ),
        explains=("gpu-differs-from-its-peers", "gpu-clocks-are-low"),
        quality=limited.quality,
        margin=margin_above(limited.share, limit),
        corroboration=AGREEING if is_hot else ALONE,
    )


def _limit(limited: Limited, *, already_open: bool, limits: Limits) -> float:
    if limited.is_counted:
        return limits.counted_release_share if already_open else limits.counted_share
    return limits.flagged_release_share if already_open else limits.flagged_share


def _evidence(
    limited: Limited,
    limit: float,
    hottest: float | None,
    slowdown: float | None,
    limits: Limits,
) -> tuple[Evidence, ...]:
    share = Evidence(
        "gpu_limited_thermal_software_share",
        "busy time under thermal slowdown, share",
        limited.share,
        "share",
        limit,
        Side.ABOVE,
        release=_limit(limited, already_open=True, limits=limits),
    )
    if hottest is None:
        return (share,)
    return (
        share,
        Evidence(
            "gpu_temperature_celsius",
            "GPU temperature, peak",
            hottest,
            "°C",
            slowdown,
            None,
        ),
    )


def _clocks(clock: float | None, full: float | None) -> tuple[Evidence, ...]:
    if clock is None:
        return ()
    return (
        Evidence(
            "gpu_sm_clock_mhz",
            "SM clock under thermal slowdown, mean",
            clock,
            "MHz",
            full,
            Side.BELOW,
        ),
    )


_RECOMMENDATIONS = (
    Recommendation(
        "Check the cooling: working fans, clean filters, free"
        " slots next to the card, the room temperature."
    ),
    Recommendation(
        "Until then, lower the power limit slightly: stable clocks are faster than"
        " unstable ones.",
        code="nvidia-smi --power-limit=<watts>",
    ),
    Recommendation("Report the GPU to the operator of the machine."),
)
