"""GPU utilization is low.

## Detection
A GPU that works, but whose utilization is below 70 % in 95 of 100 samples, below 50 % on
average, or repeatedly falls below 10 % between samples of 70 % and more.

## Why it matters
This is a symptom: something else keeps the GPU from working. If another rule found the
cause, that finding is shown first and this one below it.

## Limitations
Utilization is the share of time in which any kernel ran, not the share of the GPU in use.
Samples more than 5 seconds apart cannot show short pauses; they are judged by their level
and average only. A GPU that hardly ever works is not part of the stage and belongs to the
rules about idle GPUs.

Catalogue: C1, low or fluctuating GPU utilization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import (
    average,
    margin_below,
    margin_towards,
    percentile,
)
from tracker.diagnosis.engine.finding import (
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import phase_line
from tracker.diagnosis.engine.wording import percent
from tracker.diagnosis.hardware.gpu_work import share_below, takes_part
from tracker.diagnosis.signals import Array, Samples
from tracker.diagnosis.signals.signal import LOADER


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    idle_percent: float = 30.0
    low_percent: float = 70.0
    low_release_percent: float = 75.0
    # Long pauses: bursts reach the limit above, but the average stays low.
    low_mean_percent: float = 50.0
    low_mean_release_percent: float = 55.0
    # From here on a case is clear; a GPU that takes part never reaches 0 %.
    clear_percent: float = 35.0
    clear_mean_percent: float = 25.0
    # Intermittent load: 5 of 100 samples are below this limit, and others are high.
    off_percent: float = 10.0
    off_release_percent: float = 15.0
    # With a higher mean, the pauses cost too little to report.
    full_mean_percent: float = 90.0

    fewest_readings: int = 10
    longest_interval_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class _Use:
    low: float  # 5th percentile
    mean: float
    high: float  # 95th percentile
    off_share: float  # share of samples in which it is off
    is_dense: bool


def check(
    gpu_utilization_percent: Samples,
    *,
    data_wait_seconds: Array | None = None,
    phase_seconds: Mapping[str, Array] | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    readings = gpu_utilization_percent
    if len(readings.values) < limits.fewest_readings:
        return Abstention((f"at least {limits.fewest_readings} samples",))
    if not takes_part(readings):
        return None

    use = _measure(readings, limits)
    low = limits.low_release_percent if already_open else limits.low_percent
    off = limits.off_release_percent if already_open else limits.off_percent
    low_mean = (
        limits.low_mean_release_percent if already_open else limits.low_mean_percent
    )
    of_mean = margin_towards(
        use.mean, limits.low_mean_percent, limits.clear_mean_percent
    )
    if use.high < low:
        title = "GPU utilization is low"
        how = f"the 95th percentile of its samples is {use.high:.0f} %"
        margin = margin_towards(use.high, limits.low_percent, limits.clear_percent)
    elif use.is_dense and use.low < off and use.mean < limits.full_mean_percent:
        title = "GPU utilization is uneven"
        how = f"it swings between {use.low:.0f} % and {use.high:.0f} %"
        margin = margin_below(use.low, limits.off_percent)
    elif use.mean < low_mean:
        title = "GPU utilization is low"
        how = f"{percent(use.off_share)} of its samples are below {limits.off_percent:.0f} %"
        margin = of_mean
    else:
        return None

    return Finding(
        title=title,
        severity=(
            Severity.WARNING if use.mean < limits.idle_percent else Severity.NOTICE
        ),
        summary=(f"Mean GPU utilization is {use.mean:.0f} %: {how}."),
        evidence=(
            Evidence(
                "gpu_utilization_percent",
                "GPU utilization, 95th percentile",
                use.high,
                "%",
                limits.low_percent,
                Side.BELOW,
                release=limits.low_release_percent,
            ),
            Evidence(
                "gpu_utilization_percent",
                "GPU utilization, 5th percentile",
                use.low,
                "%",
                limits.off_percent,
                Side.BELOW,
                release=limits.off_release_percent,
            ),
            Evidence(
                "gpu_utilization_percent",
                "GPU utilization, mean",
                use.mean,
                "%",
                limits.low_mean_percent,
                Side.BELOW,
                release=limits.low_mean_release_percent,
            ),
        ),
        recommendations=_what_to_log(data_wait_seconds, phase_seconds),
        disproof=(
            "Read the GPU's hardware counters in the same minutes: if its multiprocessors"
            " were always busy, the driver's value is wrong."
        ),
        quality=readings.quality,
        margin=max(margin, of_mean),
    )


def _measure(readings: Samples, limits: Limits) -> _Use:
    apart = float(np.median(np.diff(readings.times))) / 1e6
    return _Use(
        low=percentile(readings, 5),
        mean=average(readings.values),
        high=percentile(readings, 95),
        off_share=share_below(readings, limits.off_percent),
        is_dense=apart <= limits.longest_interval_seconds,
    )


def _what_to_log(
    data_wait_seconds: Array | None, phase_seconds: Mapping[str, Array] | None
) -> tuple[Recommendation, ...]:
    wanted = []
    if data_wait_seconds is None:
        wanted.append(
            Recommendation(
                "Wrap your data loader, so that the run measures how long steps wait for"
                " data.",
                code=LOADER,
            )
        )
    if phase_seconds is None:
        wanted.append(
            Recommendation(
                "Name the phases of a step, so that the run measures where its time goes.",
                code=phase_line("forward"),
            )
        )
    return (
        *wanted,
        Recommendation(
            "Fix the cause shown with this finding. If there is none, compare the phases of"
            " a step with the times at which the GPU is idle."
        ),
    )
