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

IDLE_GPU_PERCENT = 5.0
IDLE_GPU_RELEASE_PERCENT = 10.0
# The GPU is idle if this percentile of its samples is below the limit.
PERCENTILE = 95.0

BUSY_CPU_SHARE = 0.20
BUSY_CPU_CORES = 0.50  # or this much, on machines with many cores

SMALLEST_SHARE_OF_RUN = 0.10
CRITICAL_SECONDS = 3600.0

FEWEST_SECONDS = 60.0
FEWEST_READINGS = 10


def check(
    gpu_utilization_percent: Samples,
    job_cpu_cores: Samples,
    *,
    busiest_gpu_percent: Samples | None = None,
    effective_cores: float | None = None,
    stage_share_of_run: float | None = None,
    already_open: bool = False,
) -> Answer:
    readings = len(gpu_utilization_percent.values)
    times = gpu_utilization_percent.times
    seconds = float(times[-1] - times[0]) / 1e6 if readings else 0.0
    if readings < FEWEST_READINGS or seconds < FEWEST_SECONDS:
        return Abstention(
            (f"at least {FEWEST_READINGS} readings over {duration(FEWEST_SECONDS)}",)
        )

    busiest = percentile(gpu_utilization_percent, PERCENTILE)
    limit = IDLE_GPU_RELEASE_PERCENT if already_open else IDLE_GPU_PERCENT
    used = typical(job_cpu_cores)
    if busiest >= limit or used < _busy_cores(effective_cores):
        return None
    if busiest_gpu_percent is not None and (
        percentile(busiest_gpu_percent, PERCENTILE) >= limit
    ):
        # The stage works on another GPU.
        return None
    if stage_share_of_run is not None and stage_share_of_run < SMALLEST_SHARE_OF_RUN:
        return None

    return Finding(
        severity=(
            Severity.CRITICAL if seconds >= CRITICAL_SECONDS else Severity.WARNING
        ),
        summary=(
            f"For {duration(seconds)}, GPU utilization was at most"
            f" {busiest:.0f} % ({ordinal(PERCENTILE)} percentile), while the job used"
            f" {cores(used)}."
        ),
        evidence=(
            Evidence(
                "gpu_utilization_percent",
                f"GPU utilization, {ordinal(PERCENTILE)} percentile",
                busiest,
                "%",
                IDLE_GPU_PERCENT,
                Side.BELOW,
                release=IDLE_GPU_RELEASE_PERCENT,
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
        margin=margin_below(busiest, IDLE_GPU_PERCENT),
        corroboration=AGREEING,
    )


def _busy_cores(effective_cores: float | None) -> float:
    if effective_cores is None or not effective_cores > 0:
        return BUSY_CPU_CORES
    return min(BUSY_CPU_CORES, BUSY_CPU_SHARE * effective_cores)


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
