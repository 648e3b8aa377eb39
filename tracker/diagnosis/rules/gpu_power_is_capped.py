"""GPU power limit is lowered.

## What it looks for
A GPU whose clocks are lowered by the power limit in 10 % and more of its busy time,
while that limit is lower than the maker's default.

## Why it matters
The card could work faster with the power it was built for. Often the cap is left from
somebody else's experiment, or was set for another season or another job.

## When it is wrong
A cap may be meant: for the rack's supply, for heat, or for efficiency. Work per joule
is usually best below the default.
At the default limit, dense work is always limited by power. That is normal, and this
rule is silent about it.

Catalogue: H2, power cap.
"""

from __future__ import annotations

from tracker.diagnosis.busy import NEVER_BUSY
from tracker.diagnosis.clocks import (
    Limited,
    clock_gain,
    clock_while_limited,
    measure_limit,
)
from tracker.diagnosis.finding import (
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
from tracker.diagnosis.signals import Samples
from tracker.diagnosis.statistics import margin_above, typical
from tracker.diagnosis.wording import percent

LIMITED_SHARE = 0.10
LIMITED_RELEASE_SHARE = 0.07
# A limit of this part of the default and more is the default.
SAME_LIMIT_SHARE = 0.98


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
) -> Answer:
    # Read once a minute: a short window may have none.
    enforced = (
        typical(gpu_power_limit_watts)
        if gpu_power_limit_watts
        else gpu_power_limit_at_start_watts
    )
    if enforced is None or not enforced > 0 or not gpu_power_limit_default_watts > 0:
        return Abstention(("gpu_power_limit_watts",))
    if enforced >= SAME_LIMIT_SHARE * gpu_power_limit_default_watts:
        return None

    limited = measure_limit(gpu_utilization_percent, gpu_limited_power_share)
    if limited is None:
        return Abstention((NEVER_BUSY,))
    least = LIMITED_RELEASE_SHARE if already_open else LIMITED_SHARE
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
    )


def _finding(
    limited: Limited,
    *,
    enforced: float,
    requested: float | None,
    default: float,
    clock: float | None,
    gain: Gain | None,
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
                LIMITED_SHARE,
                Side.ABOVE,
                release=LIMITED_RELEASE_SHARE,
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
            _ask_who(enforced, requested, default),
            Recommendation(
                "If the cap is meant, keep it: compare joules and time of two runs"
                " before paying for more power."
            ),
        ),
        disproof=(
            "Raise the limit to the default for some minutes: if the steps are not"
            " faster, power was not what held them."
        ),
        gain=gain,
        explains=("gpu-clocks-are-low", "gpu-differs-from-its-peers"),
        quality=limited.quality,
        margin=margin_above(limited.share, LIMITED_SHARE),
        corroboration=ALONE,
    )


def _ask_who(
    enforced: float, requested: float | None, default: float
) -> Recommendation:
    current, suggested = f"{enforced:.0f} W", f"{default:.0f} W"
    if requested is not None and enforced < SAME_LIMIT_SHARE * requested:
        return Recommendation(
            f"On this host {requested:.0f} W were asked for, so the limit comes from"
            " elsewhere, such as the chassis or its management controller: ask who runs"
            " the machine.",
            current=current,
            suggested=suggested,
        )
    return Recommendation(
        "Ask who set the limit and why; if nobody needs it, set it back.",
        current=current,
        suggested=suggested,
        code=f"nvidia-smi --power-limit={default:.0f}",
    )
