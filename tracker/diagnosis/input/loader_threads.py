"""Detects loader threads of the training process that share one core.

Python runs one thread at a time: many threads that decode are as fast as one.
"""

from __future__ import annotations

import math

from tracker.diagnosis.analysis.statistics import average_or_none, margin_above, typical
from tracker.diagnosis.engine.finding import (
    AGREEING,
    SAMPLED,
    Evidence,
    Finding,
    Recommendation,
    Side,
)
from tracker.diagnosis.engine.frameworks import loader_workers_line
from tracker.diagnosis.engine.speedup import Floor
from tracker.diagnosis.engine.wording import cores, count, duration, percent
from tracker.diagnosis.input.waiting import (
    NOTABLE_SHARE,
    Waiting,
    measure_notable_waiting,
)
from tracker.diagnosis.signals import Array, Samples

# Cores used by all threads of the process; slightly less if other jobs compete.
SHARED_CORES = 0.70
SHARED_RELEASE_CORES = 0.60
MAX_CORES = 1.15
# If the main thread often waits for a core, the other threads do, too.
CORE_WAIT_SHARE = 0.10
CROWDED_CORES = 0.45
# Share of the main thread, which waits for the others.
MAIN_THREAD_SHARE = 0.35

FEWEST_CORES = 2.0
CRITICAL_SHARE = 0.20


def find_threads(
    step_seconds: Array,
    data_wait_seconds: Array,
    effective_cores: float,
    job_main_cpu_cores: Samples,
    job_main_thread_cpu_cores: Samples | None,
    *,
    core_wait_share: Samples | None = None,
    loader_workers: float | None = None,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
) -> Finding | None:
    if (
        loader_workers
        or job_main_thread_cpu_cores is None
        or not effective_cores >= FEWEST_CORES
    ):
        return None
    waiting = measure_notable_waiting(
        step_seconds, data_wait_seconds, busiest_gpu_percent, already_open=already_open
    )
    used, by_main = typical(job_main_cpu_cores), typical(job_main_thread_cpu_cores)
    if waiting is None or not share_one_core(
        used, by_main, core_wait_share, already_open=already_open
    ):
        return None
    return _finding(waiting, used, by_main, effective_cores, framework)


def share_one_core(
    used: float,
    by_main: float,
    core_wait_share: Samples | None,
    *,
    already_open: bool = False,
) -> bool:
    """Return whether the threads of a process, except its main one, use about one core."""
    is_crowded = (average_or_none(core_wait_share) or 0.0) >= CORE_WAIT_SHARE
    least = SHARED_RELEASE_CORES if already_open else SHARED_CORES
    least = CROWDED_CORES if is_crowded else least
    return least <= used <= MAX_CORES and by_main <= MAIN_THREAD_SHARE * used


def _finding(
    waiting: Waiting,
    used: float,
    by_main: float,
    effective_cores: float,
    framework: str | None,
) -> Finding:
    workers = max(2, math.floor(effective_cores))
    batch_seconds = (used - by_main) * waiting.step_seconds
    return Finding(
        title="Loader threads share one core",
        severity=waiting.severity(CRITICAL_SHARE),
        summary=(
            f"Each step waits {duration(waiting.exposed_seconds)} of"
            f" {duration(waiting.step_seconds)} for its batch"
            f" ({percent(waiting.exposed_share)}), while the threads that load use"
            f" {cores(used)} of {effective_cores:g} together: Python runs one of them at a"
            " time."
        ),
        evidence=(
            waiting.evidence(NOTABLE_SHARE),
            Evidence(
                "job_main_cpu_cores",
                "CPU cores in use by the main process, median",
                used,
                "cores",
                SHARED_CORES,
                Side.ABOVE,
                release=SHARED_RELEASE_CORES,
            ),
            Evidence(
                "job_main_thread_cpu_cores",
                "CPU cores in use by its main thread, median",
                by_main,
                "cores",
                MAIN_THREAD_SHARE * used,
                Side.BELOW,
            ),
        ),
        recommendations=(
            Recommendation(
                "Load in processes instead of threads.",
                current="threads",
                suggested=count(workers, "worker process", "worker processes"),
                code=loader_workers_line(framework, workers),
            ),
            Recommendation(
                "Or do the work of the threads in code that releases the global interpreter"
                " lock (GIL), such as operations on whole arrays."
            ),
        ),
        disproof=(
            "Load with a single thread: if steps take as long as now, the threads ran one"
            " after the other."
        ),
        gain=waiting.gain_without(
            Floor(batch_seconds / workers, f"loading in {workers} processes")
        ),
        explains=(
            "too-few-loader-workers",
            "preprocessing-is-cpu-bound",
            "batches-come-in-bursts",
            "data-wait-dominates",
            "host-memory-is-unused",
            "steps-are-slow-now-and-then",
        ),
        quality=SAMPLED,
        margin=margin_above(waiting.exposed_share, NOTABLE_SHARE),
        corroboration=AGREEING,
    )
