"""GPU power limit is lowered.

## Detection
A power limit below the default of the manufacturer that lowers the clocks of a GPU in at
least 10 % of its busy time.

## Why it matters
The card could work faster at its default power. Often the limit remains from an earlier
experiment, or was set for another season or another job.

## Limitations
The limit may be intended: for the supply of the rack, for heat, or for efficiency. Work per
joule is usually best below the default.
At the default limit, dense work is always limited by power. This is normal and not
reported.

Catalogue: H2, power cap.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import margin_above, typical
from tracker.diagnosis.engine.finding import (
    ALONE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.wording import percent
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

    limited_share: float = 0.10
    limited_release_share: float = 0.07
    # At this share of the default or more, the limit counts as the default.
    same_limit_share: float = 0.98


def check(
    gpu_utilization_percent: Samples,
    gpu_limited_power_share: Samples,
    gpu_power_limit_default_watts: float,
    *,
    gpu_power_limit_watts: Samples | None = None,
    gpu_power_limit_at_start_watts: float | None = None,
    gpu_power_limit_requested_watts: float | None = None,
    gpu_sm_clock_mhz: Samples | None = None,
    gpu_sm_clock_max_mhz: float | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    # The limit is read once a minute, so a short window may have no sample.
    enforced = (
        typical(gpu_power_limit_watts)
        if gpu_power_limit_watts
        else gpu_power_limit_at_start_watts
    )
    if enforced is None or not enforced > 0 or not gpu_power_limit_default_watts > 0:
        return Abstention(("gpu_power_limit_watts",))
    if enforced >= limits.same_limit_share * gpu_power_limit_default_watts:
        return None

    limited = measure_limit(gpu_utilization_percent, gpu_limited_power_share)
    if limited is None:
        return Abstention((NEVER_BUSY,))
    least = limits.limited_release_share if already_open else limits.limited_share
    if limited.is_chance or limited.share < least:
        return None

    clock = clock_while_limited(
        gpu_sm_clock_mhz, gpu_utilization_percent, gpu_limited_power_share
    )
    return _finding(
        limited,
        enforced=enforced,
        requested=gpu_power_limit_requested_watts,
        default=gpu_power_limit_default_watts,
        clock=clock,
        gain=clock_gain(
            gpu_utilization_percent,
            clock_mhz=clock,
            full_mhz=gpu_sm_clock_max_mhz,
            limited_share=limited.share,
        ),
        limits=limits,
    )


def _finding(
    limited: Limited,
    *,
    enforced: float,
    requested: float | None,
    default: float,
    clock: float | None,
    gain: Gain | None,
    limits: Limits,
) -> Finding:
    return Finding(
        severity=Severity.WARNING,
        summary=(
            f"The power limit is {enforced:.0f} W instead of {default:.0f} W. It"
            f" lowered the clocks for {percent(limited.share)} of the busy time."
        ),
        evidence=(
            Evidence(
                "gpu_limited_power_share",
                "busy time at the power limit, share",
                limited.share,
                "share",
                limits.limited_share,
                Side.ABOVE,
                release=limits.limited_release_share,
            ),
            Evidence(
                "gpu_power_limit_watts",
                "power limit",
                enforced,
                "W",
                default,
                Side.BELOW,
            ),
            *(
                (
                    Evidence(
                        "gpu_sm_clock_mhz",
                        "SM clock at the power limit, mean",
                        clock,
                        "MHz",
                    ),
                )
                if clock is not None
                else ()
            ),
        ),
        recommendations=(
            _ask_who(enforced, requested, default, limits),
            Recommendation(
                "If the limit is intended, keep it: compare energy and time of two runs"
                " before paying for more power."
            ),
        ),
        disproof=(
            "Raise the limit to the default for some minutes: if the steps are not"
            " faster, power is not the limit."
        ),
        gain=gain,
        explains=("gpu-clocks-are-low", "gpu-differs-from-its-peers"),
        quality=limited.quality,
        margin=margin_above(limited.share, limits.limited_share),
        corroboration=ALONE,
    )


def _ask_who(
    enforced: float, requested: float | None, default: float, limits: Limits
) -> Recommendation:
    current, suggested = f"{enforced:.0f} W", f"{default:.0f} W"
    if requested is not None and enforced < limits.same_limit_share * requested:
        return Recommendation(
            f"A limit of {requested:.0f} W was requested on this host, so the lower limit"
            " comes from elsewhere, such as the chassis or its management controller: ask"
            " the operator of the machine.",
            current=current,
            suggested=suggested,
        )
    return Recommendation(
        "Find out why the limit was set; if it is not needed, restore the default.",
        current=current,
        suggested=suggested,
        code=f"nvidia-smi --power-limit={default:.0f}",
    )
