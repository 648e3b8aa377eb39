"""GPU clocks are low for no apparent reason.

## Detection
A busy GPU whose SM clock is below 80 % of its maximum although power, heat, the power supply
and idleness do not limit it.

## Why it matters
Either the clocks are locked, or the card is stuck in a low performance state. Compute-bound
work takes longer by the same factor.

## Limitations
Clocks may be locked on purpose, for reproducible measurements.
Very light work does not raise the clocks; only time in which the GPU was busy counts.
Laptops rarely reach the maximum clock that the driver reports.

Catalogue: H4, clocks stuck.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import margin_below
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.hardware.busy import NEVER_BUSY
from tracker.diagnosis.hardware.clocks import (
    clock_gain,
    clock_while_busy,
    measure_limit,
)
from tracker.diagnosis.signals import Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    low_clock_share: float = 0.80
    low_clock_release_share: float = 0.85
    # Above this limited share of the time, the limit explains the low clocks.
    max_limited_share: float = 0.05
    # Locked clocks apply all the time.
    set_share: float = 0.50


def check(
    gpu_utilization_percent: Samples,
    gpu_sm_clock_mhz: Samples,
    gpu_sm_clock_max_mhz: float,
    gpu_limited_power_share: Samples,
    gpu_limited_thermal_software_share: Samples,
    *,
    gpu_limited_thermal_hardware_share: Samples | None = None,
    gpu_limited_power_brake_share: Samples | None = None,
    gpu_limited_hardware_slowdown_share: Samples | None = None,
    gpu_limited_low_utilization_share: Samples | None = None,
    gpu_limited_sync_boost_share: Samples | None = None,
    gpu_limited_board_share: Samples | None = None,
    gpu_limited_reliability_share: Samples | None = None,
    gpu_limited_application_clocks_share: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    busy = gpu_utilization_percent
    clock = clock_while_busy(gpu_sm_clock_mhz, busy)
    limited = measure_limit(
        busy,
        gpu_limited_power_share,
        gpu_limited_thermal_software_share,
        gpu_limited_thermal_hardware_share,
        gpu_limited_power_brake_share,
        gpu_limited_hardware_slowdown_share,
        gpu_limited_low_utilization_share,
        gpu_limited_sync_boost_share,
        gpu_limited_board_share,
        gpu_limited_reliability_share,
    )
    if not gpu_sm_clock_max_mhz > 0:
        return Abstention(("gpu_sm_clock_max_mhz",))
    if clock is None or limited is None:
        return Abstention((NEVER_BUSY,))

    share = clock / gpu_sm_clock_max_mhz
    limit = limits.low_clock_release_share if already_open else limits.low_clock_share
    if share >= limit or limited.share > limits.max_limited_share:
        return None

    chosen = measure_limit(busy, gpu_limited_application_clocks_share)
    return _finding(
        clock,
        gpu_sm_clock_max_mhz,
        limited_share=limited.share,
        is_set=chosen is not None and chosen.share >= limits.set_share,
        gain=clock_gain(busy, clock_mhz=clock, full_mhz=gpu_sm_clock_max_mhz),
        quality=min(SAMPLED, gpu_sm_clock_mhz.quality),
        limits=limits,
    )


def _finding(
    clock: float,
    highest_clock: float,
    *,
    limited_share: float,
    is_set: bool,
    gain: Gain | None,
    quality: float,
    limits: Limits,
) -> Finding:
    share = clock / highest_clock
    full = f"{highest_clock:.0f} MHz"
    return Finding(
        title="GPU clocks are locked below the maximum" if is_set else "",
        severity=Severity.WARNING,
        summary=(
            f"While busy, the GPU ran at {clock:.0f} MHz of {full}, and neither power nor heat limited it."
            + (" The driver reports that the clocks are locked." if is_set else "")
        ),
        evidence=(
            Evidence(
                "gpu_sm_clock_mhz",
                "SM clock while busy, median",
                clock,
                "MHz",
                limits.low_clock_share * highest_clock,
                Side.BELOW,
                release=limits.low_clock_release_share * highest_clock,
            ),
            Evidence(
                "gpu_limited_power_share",
                "busy time at limited clocks, share",
                limited_share,
                "share",
                limits.max_limited_share,
                Side.BELOW,
            ),
        ),
        recommendations=_recommendations(f"{clock:.0f} MHz", full),
        disproof=(
            "Run a large matrix multiplication for a minute: if the clock rises to its"
            " maximum, the workload is too light to raise it."
        ),
        gain=gain,
        explains=("gpu-differs-from-its-peers",),
        quality=quality,
        margin=margin_below(share, limits.low_clock_share),
        corroboration=AGREEING if is_set else ALONE,
    )


def _recommendations(current: str, full: str) -> tuple[Recommendation, ...]:
    return (
        Recommendation(
            "Unlock the clocks, unless they were locked for a measurement.",
            current=current,
            suggested=full,
            code="nvidia-smi --reset-gpu-clocks && nvidia-smi"
            " --reset-applications-clocks",
        ),
        Recommendation(
            "If the clocks are not locked, turn on persistence mode, and restart the machine if"
            " the clocks stay low.",
            code="nvidia-smi --persistence-mode=1",
        ),
    )
