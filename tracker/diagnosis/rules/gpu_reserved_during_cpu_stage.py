"""GPU is reserved during a CPU stage.

## Detection
A stage in which no GPU works although the job keeps the CPU busy.

## Why it matters
Other jobs cannot use the GPU meanwhile, and it costs as much as a busy one.

## Limitations
On a workstation with a single user, an idle GPU costs only power.
A training stage without any GPU work is reported, too: it runs on the CPU by mistake, or
does not need this machine.

Catalogue: P1, GPU reserved during a CPU stage.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import margin_below, percentile, typical
from tracker.diagnosis.engine.finding import (
    AGREEING,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import cores, duration, ordinal
from tracker.diagnosis.signals import Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    idle_gpu_percent: float = 5.0
    idle_gpu_release_percent: float = 10.0
    # The GPU is idle if this percentile of its samples is below the limit.
    percentile: float = 95.0

    busy_cpu_share: float = 0.20
    busy_cpu_cores: float = 0.50  # or this much, on machines with many cores

    smallest_share_of_run: float = 0.10
    critical_seconds: float = 3600.0

    fewest_seconds: float = 60.0
    fewest_readings: int = 10


def check(
    gpu_utilization_percent: Samples,
    job_cpu_cores: Samples,
    *,
    busiest_gpu_percent: Samples | None = None,
    effective_cores: float | None = None,
    stage_share_of_run: float | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    readings = len(gpu_utilization_percent.values)
    times = gpu_utilization_percent.times
    seconds = float(times[-1] - times[0]) / 1e6 if readings else 0.0
    if readings < limits.fewest_readings or seconds < limits.fewest_seconds:
        return Abstention(
            (
                f"at least {limits.fewest_readings} samples over"
                f" {duration(limits.fewest_seconds)}",
            )
        )

    busiest = percentile(gpu_utilization_percent, limits.percentile)
    limit = limits.idle_gpu_release_percent if already_open else limits.idle_gpu_percent
    used = typical(job_cpu_cores)
    if busiest >= limit or used < _busy_cores(effective_cores, limits):
        return None
    if busiest_gpu_percent is not None and (
        percentile(busiest_gpu_percent, limits.percentile) >= limit
    ):
        # The stage works on another GPU.
        return None
    if (
        stage_share_of_run is not None
        and stage_share_of_run < limits.smallest_share_of_run
    ):
        return None

    return Finding(
        severity=(
            Severity.CRITICAL
            if seconds >= limits.critical_seconds
            else Severity.WARNING
        ),
        summary=(
            f"For {duration(seconds)}, GPU utilization was at most"
            f" {busiest:.0f} % ({ordinal(limits.percentile)} percentile), while the job"
            f" used {cores(used)}."
        ),
        evidence=(
            Evidence(
                "gpu_utilization_percent",
                f"GPU utilization, {ordinal(limits.percentile)} percentile",
                busiest,
                "%",
                limits.idle_gpu_percent,
                Side.BELOW,
                release=limits.idle_gpu_release_percent,
            ),
            Evidence(
                "job_cpu_cores", "CPU cores in use by the job, median", used, "cores"
            ),
            Evidence("gpu_utilization_percent", "GPU time held", seconds, "s"),
        ),
        recommendations=_RECOMMENDATIONS,
        disproof=(
            "Run this stage without a visible GPU: if it takes as long, it needs none."
        ),
        explains=("gpu-is-held-but-idle",),
        quality=gpu_utilization_percent.quality,
        margin=margin_below(busiest, limits.idle_gpu_percent),
        corroboration=AGREEING,
    )


def _busy_cores(effective_cores: float | None, limits: Limits) -> float:
    if effective_cores is None or not effective_cores > 0:
        return limits.busy_cpu_cores
    return min(limits.busy_cpu_cores, limits.busy_cpu_share * effective_cores)


_RECOMMENDATIONS = (
    Recommendation(
        "Run this stage on a machine without a GPU, as a separate script that joins"
        " the same run.",
        current="on a machine with a GPU",
        suggested="on a machine without one",
        code='run = agent.init("my run", stage="preprocess")',
    ),
    Recommendation("If this is training, check that model and batches are on the GPU."),
)
