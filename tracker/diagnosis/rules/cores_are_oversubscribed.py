"""CPU cores are oversubscribed.

## Detection
Scheduler periods in which the CPU quota of the container throttled the job.
Or at least 1.5 threads per core, while the loading processes are runnable without a core for
much of the time.

## Why it matters
A container sees all cores of its host regardless of its quota, and libraries start one thread
per core. When the quota of a period is used up, all threads stop until the next period,
including the training step.

## Limitations
Sleeping threads are counted as well; the deciding value is the time that processes wait for a
core while the job itself keeps most of its cores busy.
If other jobs fill the host, they cause the waiting, and the rule abstains.
A throttled job that does not wait for data may lose nothing; the finding is a notice then.
The share of periods counts how often the job was throttled, not for how long.

Catalogue: D4, worker oversubscription and CPU quota.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import (
    average,
    average_or_none,
    highest_average,
    margin_above,
    typical,
)
from tracker.diagnosis.engine.finding import (
    AGREEING,
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
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import count, duration, percent
from tracker.diagnosis.hardware.contention import CROWDED, is_crowded
from tracker.diagnosis.input.code_lines import one_thread_line
from tracker.diagnosis.input.waiting import Waiting, measure_notable_waiting
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Share of scheduler periods.
    throttled_share: float = 0.10
    throttled_release_share: float = 0.05
    critical_share: float = 0.25

    # Threads per core.
    threads_per_core: float = 1.5
    # Share of time of the loading processes; a few percent are normal on a busy machine.
    core_wait_share: float = 0.20
    core_wait_release_share: float = 0.15
    # Share of its cores; a job that uses less does not oversubscribe them.
    own_cpu_share: float = 0.60


@dataclass(frozen=True, slots=True)
class _Load:
    throttled: float | None
    threads: float | None
    core_wait: float | None
    is_throttled: bool
    is_crammed: bool


def check(
    effective_cores: float,
    *,
    cgroup_throttled_share: Samples | None = None,
    cgroup_throttled_seconds_per_second: Samples | None = None,
    cpu_quota_cores: float | None = None,
    host_cores: float | None = None,
    host_cpu_percent: Samples | None = None,
    job_cpu_cores: Samples | None = None,
    job_threads: Samples | None = None,
    job_workers: Samples | None = None,
    worker_core_wait_share: Samples | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    step_seconds: Array | None = None,
    data_wait_seconds: Array | None = None,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if not effective_cores > 0:
        return Abstention(("effective_cores",))
    fills_cores = (
        job_cpu_cores is None
        or average(job_cpu_cores.values) >= limits.own_cpu_share * effective_cores
    )
    load = _measure(
        effective_cores,
        average_or_none(cgroup_throttled_share),
        average_or_none(job_threads),
        highest_average(worker_core_wait_share, job_main_thread_core_wait_share),
        already_open=already_open,
        limits=limits,
    )
    if load.throttled is None and (load.threads is None or load.core_wait is None):
        return Abstention(("cgroup_throttled_share", "worker_core_wait_share"))
    if not load.is_throttled and not load.is_crammed:
        return None
    if (
        not load.is_throttled
        and job_cpu_cores is not None
        and is_crowded(job_cpu_cores, host_cpu_percent, host_cores)
        and not _waits_for_itself(job_cpu_cores, load, effective_cores, limits)
    ):
        return Abstention((CROWDED,))
    if not load.is_throttled and not fills_cores:
        return None

    waiting = None
    if step_seconds is not None and data_wait_seconds is not None:
        waiting = measure_notable_waiting(
            step_seconds,
            data_wait_seconds,
            busiest_gpu_percent,
            already_open=already_open,
        )
    cores_of = _cores(effective_cores, cpu_quota_cores, host_cores)
    workers = typical(job_workers) if job_workers is not None else 0.0
    return Finding(
        severity=_severity(load, waiting, limits),
        summary=_summary(load, waiting, cores_of),
        evidence=_evidence(
            load,
            effective_cores,
            average_or_none(cgroup_throttled_seconds_per_second),
            limits,
        ),
        recommendations=_recommendations(
            effective_cores, workers, cores_of, load, framework
        ),
        disproof=(
            "Run once with one thread in each process, or with a higher quota: if steps"
            " take as long as now, the cores are not the limit."
        ),
        gain=_gain(load, waiting),
        explains=_explained(workers),
        quality=_quality(load, cgroup_throttled_share, worker_core_wait_share),
        margin=_margin(load, limits),
        corroboration=AGREEING if load.is_throttled and load.is_crammed else ALONE,
    )


def _waits_for_itself(
    job_cpu_cores: Samples, load: _Load, effective_cores: float, limits: Limits
) -> bool:
    """Return whether the job's threads alone are too many for its cores.

    A thread that waits for a core for half of the time counts twice: the CPU use divided
    by the rest of the time is the number of threads that want to run.
    """
    running_share = 1.0 - min(0.99, load.core_wait or 0.0)
    wanted = average(job_cpu_cores.values) / running_share
    return wanted > 0 and 1.0 - effective_cores / wanted >= limits.core_wait_share


def _measure(
    cores: float,
    throttled: float | None,
    threads: float | None,
    core_wait: float | None,
    *,
    already_open: bool,
    limits: Limits,
) -> _Load:
    stopped = limits.throttled_release_share if already_open else limits.throttled_share
    waited = limits.core_wait_release_share if already_open else limits.core_wait_share
    return _Load(
        throttled,
        threads,
        core_wait,
        is_throttled=throttled is not None and throttled >= stopped,
        is_crammed=(threads or 0.0) > limits.threads_per_core * cores
        and (core_wait or 0.0) >= waited,
    )


def _severity(load: _Load, waiting: Waiting | None, limits: Limits) -> Severity:
    if waiting is None:
        return Severity.NOTICE
    is_often = load.is_throttled and (load.throttled or 0.0) >= limits.critical_share
    return Severity.CRITICAL if is_often else Severity.WARNING


def _cores(effective: float, quota: float | None, host: float | None) -> str:
    if quota is not None and host is not None and host > quota:
        return f"a quota of {quota:g} of the host's {host:g} cores"
    return count(effective, "core", "cores")


def _summary(load: _Load, waiting: Waiting | None, cores_of: str) -> str:
    said = []
    if load.is_throttled and load.throttled is not None:
        said.append(
            f"The CPU quota throttled the job in {percent(load.throttled)} of the"
            f" scheduler periods: it has {cores_of}."
        )
    if load.is_crammed and load.threads is not None and load.core_wait is not None:
        said.append(
            f"{load.threads:.0f} threads share {cores_of}, and processes wait for a"
            f" core {percent(load.core_wait)} of the time."
        )
    said.append(
        f"Steps wait {percent(waiting.exposed_share)} of their time for data."
        if waiting
        else "It is unknown whether steps wait for data."
    )
    return " ".join(said)


def _evidence(
    load: _Load, cores: float, stopped_seconds: float | None, limits: Limits
) -> tuple[Evidence, ...]:
    rows = (
        (
            "cgroup_throttled_share",
            "throttled scheduler periods, mean share",
            load.throttled,
            "share",
            limits.throttled_share,
            limits.throttled_release_share,
        ),
        (
            "cgroup_throttled_seconds_per_second",
            "throttled time per second, all threads",
            stopped_seconds,
            "s/s",
            None,
            None,
        ),
        (
            "job_threads",
            f"threads, mean, for {cores:g} cores",
            load.threads,
            "threads",
            limits.threads_per_core * cores,
            None,
        ),
        (
            "worker_core_wait_share",
            "time runnable without a core, mean share",
            load.core_wait,
            "share",
            limits.core_wait_share,
            limits.core_wait_release_share,
        ),
        ("effective_cores", "CPU limit of the container", cores, "cores", None, None),
    )
    return tuple(
        Evidence(signal, statistic, value, unit, limit, Side.ABOVE, release)
        for signal, statistic, value, unit, limit, release in rows
        if value is not None
    )


def _recommendations(
    cores: float, workers: float, cores_of: str, load: _Load, framework: str | None
) -> tuple[Recommendation, ...]:
    whole = max(1, math.floor(cores))
    recommended = [
        Recommendation(
            "Use one thread per process: the loader workers alone keep the cores busy."
            " With OpenCV, call `cv2.setNumThreads(0)` in each worker.",
            current="" if load.threads is None else f"{load.threads:.0f} threads",
            suggested=count(whole, "thread at a time", "threads at a time"),
            code=one_thread_line(framework, whole),
        )
    ]
    if workers > whole:
        recommended.append(
            Recommendation(
                "Use at most as many loader processes as there are cores.",
                current=count(round(workers), "worker", "workers"),
                suggested=count(whole, "worker", "workers"),
            )
        )
    if load.is_throttled:
        recommended.append(
            Recommendation(
                "Give the container a higher CPU limit.", current=f"It has {cores_of}."
            )
        )
    return tuple(recommended)


def _gain(load: _Load, waiting: Waiting | None) -> Gain | None:
    if waiting is None or not load.is_throttled:
        return None
    # Throttling can cost at most the periods in which it happened.
    running = 1.0 - min(1.0, load.throttled or 0.0)
    floors = (
        waiting.own_work,
        Floor(
            running * waiting.step_seconds,
            f"the {duration(running)} of each second in which the job is not throttled",
        ),
    )
    return expected_gain(waiting.step_seconds, floors)


def _explained(workers: float) -> tuple[str, ...]:
    symptoms = ("preprocessing-is-cpu-bound", "data-wait-dominates")
    # Throttled workers look like too few workers.
    return ("too-few-loader-workers", *symptoms) if workers >= 1 else symptoms


def _quality(
    load: _Load, throttled: Samples | None, core_wait: Samples | None
) -> float:
    decisive = throttled if load.is_throttled else core_wait
    return decisive.quality if decisive is not None else 1.0


def _margin(load: _Load, limits: Limits) -> float:
    stopped = load.throttled if load.is_throttled else 0.0
    waited = load.core_wait if load.is_crammed else 0.0
    return max(
        margin_above(stopped or 0.0, limits.throttled_share),
        margin_above(waited or 0.0, limits.core_wait_share),
    )
