"""Preprocessing is CPU-bound.

## Detection
Steps that wait for data while the loading processes, or all cores of the job, are busy
computing. Without loader workers, the training process itself is checked.

## Why it matters
Decoding and transforming cost CPU time. If that is the limit, a faster disk or a faster GPU
does not help.

## Limitations
CPU use is sampled once a second and cannot be split between waiting and training.
A training step that keeps several cores busy can hide waits without computation.
Workers are judged by their mean: 0.8 of a core each, which corresponds to four of five workers
at 0.9 and more. Workers that wait for storage for a tenth of the time are not CPU-bound.
If other jobs fill the host's cores, busy and slowed-down workers look the same; the rule then
abstains unless the loading processes are busy anyway.

Catalogue: D2, CPU-bound preprocessing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tracker.diagnosis.analysis.statistics import margin_towards, typical
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Side,
)
from tracker.diagnosis.engine.wording import cores, duration, percent
from tracker.diagnosis.hardware.contention import CROWDED, is_crowded
from tracker.diagnosis.input.loading import Loading, measure_loading
from tracker.diagnosis.input.storage import blocked_share
from tracker.diagnosis.input.waiting import Waiting, measure_notable_waiting
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Share of all cores of the job.
    full_cpu_share: float = 0.80
    full_cpu_release_share: float = 0.70
    # With cores idle for more than this part of the waiting time, loading does not
    # compute.
    idle_part_of_waiting: float = 0.50

    # Share of one core per loader worker.
    busy_worker_cores: float = 0.80
    busy_worker_release_cores: float = 0.70
    # Share of the loading processes at one time.
    max_blocked_share: float = 0.10
    # Share of one core for a training process that loads the data itself.
    busy_trainer_cores: float = 0.90
    busy_trainer_release_cores: float = 0.80

    critical_share: float = 0.20


@dataclass(frozen=True, slots=True)
class _Use:
    job_cores: float
    effective_cores: float
    busy_limit: float
    loaders_are_busy: bool
    cores_are_full: bool

    @property
    def job_share(self) -> float:
        return self.job_cores / self.effective_cores


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    job_cpu_cores: Samples,
    effective_cores: float,
    *,
    loader_workers: float | None = None,
    job_workers: Samples | None = None,
    worker_cpu_cores: Samples | None = None,
    job_main_cpu_cores: Samples | None = None,
    workers_blocked: Samples | None = None,
    host_cpu_percent: Samples | None = None,
    host_cores: float | None = None,
    busiest_gpu_percent: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    waiting = measure_notable_waiting(
        step_seconds, data_wait_seconds, busiest_gpu_percent, already_open=already_open
    )
    if waiting is None:
        return None
    if not effective_cores > 0:
        return Abstention(("effective_cores",))

    loading = measure_loading(
        waiting,
        job_cpu_cores,
        loader_workers=loader_workers,
        job_workers=job_workers,
        worker_cpu_cores=worker_cpu_cores,
        job_main_cpu_cores=job_main_cpu_cores,
    )
    if loading is None:
        return Abstention(("loader_workers", "worker_cpu_cores"))

    use = _measure_use(
        waiting,
        loading,
        job_cores=typical(job_cpu_cores),
        effective_cores=effective_cores,
        already_open=already_open,
        limits=limits,
    )
    if not use.loaders_are_busy and not use.cores_are_full:
        is_unclear = is_crowded(job_cpu_cores, host_cpu_percent, host_cores)
        return Abstention((CROWDED,)) if is_unclear else None
    blocked = blocked_share(loader_workers, job_workers, workers_blocked) or 0.0
    return (
        None
        if blocked >= limits.max_blocked_share
        else _finding(waiting, loading, use, limits)
    )


def _measure_use(
    waiting: Waiting,
    loading: Loading,
    *,
    job_cores: float,
    effective_cores: float,
    already_open: bool,
    limits: Limits,
) -> _Use:
    if loading.workers:
        enter, leave = limits.busy_worker_cores, limits.busy_worker_release_cores
    else:
        enter, leave = limits.busy_trainer_cores, limits.busy_trainer_release_cores
    full_limit = (
        limits.full_cpu_release_share if already_open else limits.full_cpu_share
    )

    job_share = job_cores / effective_cores
    waits_compute = (
        1.0 - job_share <= limits.idle_part_of_waiting * waiting.exposed_share
    )
    return _Use(
        job_cores=job_cores,
        effective_cores=effective_cores,
        busy_limit=enter,
        loaders_are_busy=loading.busy_cores >= (leave if already_open else enter),
        cores_are_full=job_share >= full_limit and waits_compute,
    )


def _finding(waiting: Waiting, loading: Loading, use: _Use, limits: Limits) -> Finding:
    who = (
        "the loader workers are at their limit"
        if loading.workers
        else "the training process is at its limit"
    )
    margin = max(
        margin_towards(loading.busy_cores, use.busy_limit, 1.0)
        if use.loaders_are_busy
        else 0.5,
        margin_towards(use.job_share, limits.full_cpu_share, 1.0)
        if use.cores_are_full
        else 0.5,
    )
    return Finding(
        severity=waiting.severity(limits.critical_share),
        summary=(
            f"Each batch costs {duration(loading.cpu_seconds)} of CPU time, and"
            f" {who}: the job uses {cores(use.job_cores)} of"
            f" {use.effective_cores:g}, and steps wait"
            f" {percent(waiting.exposed_share)} of their time for data."
        ),
        evidence=_evidence(waiting, loading, use, limits),
        recommendations=_recommendations(loading, waiting),
        disproof=(
            "Prepare a few hundred batches ahead and train on those: if steps still"
            " wait as long, preparing them is not the limit."
        ),
        gain=waiting.gain_without(),
        explains=("batches-come-in-bursts", "data-wait-dominates"),
        quality=SAMPLED,
        margin=margin,
        corroboration=(
            AGREEING if use.loaders_are_busy and use.cores_are_full else ALONE
        ),
    )


def _evidence(
    waiting: Waiting, loading: Loading, use: _Use, limits: Limits
) -> tuple[Evidence, ...]:
    in_use = Evidence(
        "job_cpu_cores",
        f"CPU cores in use, median, of {use.effective_cores:g}",
        use.job_cores,
        "cores",
    )
    of_one = Evidence(
        "worker_cpu_cores" if loading.workers else "job_main_cpu_cores",
        "cores kept busy by one loading process",
        loading.busy_cores,
        "cores",
    )
    # One of the two limits is enough; the other one was not crossed.
    if use.cores_are_full:
        in_use = replace(
            in_use,
            limit=limits.full_cpu_share * use.effective_cores,
            side=Side.ABOVE,
            release=limits.full_cpu_release_share * use.effective_cores,
        )
    if use.loaders_are_busy:
        of_one = replace(of_one, limit=use.busy_limit, side=Side.ABOVE)
    return (
        in_use,
        of_one,
        Evidence(
            "job_cpu_cores",
            "CPU time to load one batch",
            loading.cpu_seconds,
            "s",
        ),
        waiting.evidence(),
    )


def _recommendations(loading: Loading, waiting: Waiting) -> tuple[Recommendation, ...]:
    training_seconds = max(waiting.compute_seconds, waiting.step_seconds / 100)
    needed = loading.cpu_seconds / training_seconds
    return (
        Recommendation(
            "Move deterministic work out of the loop: decode, crop and resize in a stage"
            " before training, and keep only random augmentation in the loop.",
            code='run = agent.init("my run", stage="preprocess")',
        ),
        Recommendation(
            "Make each batch cheaper: a faster decoder, smaller images, fewer or"
            " vectorized transforms."
        ),
        Recommendation(
            "Give the job more cores for loading, so that it keeps up with training.",
            suggested=f"about {cores(needed)} for loading alone",
        ),
    )
