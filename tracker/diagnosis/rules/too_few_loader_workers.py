"""Not enough data-loader workers.

## Detection
Steps that wait for data while the job has idle cores, and either the training process
loads the data itself or every loader worker is busy.
Without step times and without worker processes: functions that load batches, by their
names, or packages for loading data, with 15 % of the samples of the code profile.

## Why it matters
More processes load more batches in parallel. The fix is one argument.

## Limitations
Idle cores may be taken by other jobs on the host. New workers then compete with those
jobs and gain less than the maximum speedup.
If storage is the limit, more processes wait for it together.
If `run.probe.workers` has run, its measured worker count is used instead of an estimate.
The memory of a new worker is estimated from that of the existing processes.
TensorFlow loads in threads of the training process: if these keep more than one core
busy, they already run in parallel, and the rule reports nothing.
A trace does not contain the number of cores. The rule can then detect that the training
process loads the data, but not whether there are cores for workers.

Catalogue: D3, too few loader workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from tracker.diagnosis.analysis.statistics import margin_above, typical
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    CONTRADICTED,
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
from tracker.diagnosis.engine.frameworks import ON_PYTORCH, loader_workers_line
from tracker.diagnosis.engine.speedup import Floor, expected_gain, gain_of_share
from tracker.diagnosis.engine.wording import cores, count, duration, percent, size
from tracker.diagnosis.hardware.contention import CROWDED, is_crowded
from tracker.diagnosis.input.activities import DATA, Activity, activity_of_training
from tracker.diagnosis.input.loading import (
    SPARE,
    Loading,
    measure_loading,
    workers_in_memory,
    workers_in_shared_memory,
)
from tracker.diagnosis.input.waiting import (
    NOTABLE_SHARE,
    CoreUse,
    Waiting,
    measure_notable_waiting,
)
from tracker.diagnosis.signals import Array, Samples, Tracked
from tracker.diagnosis.signals.signal import LOADER

WORKERS = ("worker", "workers")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    spare: float = SPARE
    notable_share: float = NOTABLE_SHARE

    # Above this share of its cores in use, a job has no idle cores.
    max_cpu_share: float = 0.70
    # Without workers, the training process cannot use the other cores of a small machine.
    max_cpu_share_without_workers: float = 0.85
    release_cpu_share: float = 0.90

    busy_worker_cores: float = 0.80
    busy_worker_release_cores: float = 0.70

    # Cores used by a TensorFlow pipeline that processes one element at a time.
    max_serial_cores: float = 1.50

    # Batches pass through /dev/shm, which is 64 MiB in a container by default.
    small_shared_memory_bytes: float = 1_073_741_824.0

    smallest_bound: float = 1.05
    critical_share: float = 0.20
    # By the names of functions in the profile of the code, which may mislead.
    profile_share: float = 0.15
    # With one core, a worker would only take turns with training.
    fewest_cores: float = 2.0


@dataclass(frozen=True, slots=True)
class _Shortage:
    waiting: Waiting
    loading: Loading
    effective_cores: float
    cpu_share: float
    suggested: int
    is_crowded: bool
    shared_memory_bytes: float | None
    in_threads: bool  # of the training process, as in TensorFlow

    @property
    def suggestion(self) -> str:
        one, many = ("parallel call", "parallel calls") if self.in_threads else WORKERS
        return count(self.suggested, one, many)


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    *,
    job_cpu_cores: Samples | None = None,
    effective_cores: float | None = None,
    loader_workers: float | None = None,
    job_workers: Samples | None = None,
    worker_cpu_cores: Samples | None = None,
    job_main_cpu_cores: Samples | None = None,
    job_main_thread_cpu_cores: Samples | None = None,
    worker_core_wait_share: Samples | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    host_cpu_percent: Samples | None = None,
    host_cores: float | None = None,
    job_memory_bytes: Samples | None = None,
    memory_limit_bytes: float | None = None,
    shared_memory_used_share: Samples | None = None,
    shared_memory_total_bytes: float | None = None,
    busiest_gpu_percent: Samples | None = None,
    exposed_wait_seconds: Array | None = None,
    framework: str | None = None,
    probe_workers_best: float | None = None,
    probe_workers_seconds: float | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    waiting = measure_notable_waiting(
        step_seconds,
        data_wait_seconds,
        busiest_gpu_percent,
        exposed_wait_seconds,
        notable_share=limits.notable_share,
        already_open=already_open,
    )
    use = CoreUse(
        job_main_thread_cpu_cores,
        job_main_thread_core_wait_share,
        worker_cpu_cores,
        worker_core_wait_share,
    )
    if waiting is None or waiting.keeps_up(use, already_open=already_open):
        return None
    if waiting.is_for_a_core(use):
        return Abstention((CROWDED,))
    if effective_cores is None or not effective_cores > 0 or job_cpu_cores is None:
        return (
            _nobody_else_loads(waiting, framework, limits)
            if loader_workers == 0
            else _missing(job_cpu_cores, effective_cores)
        )

    loading = measure_loading(
        waiting,
        job_cpu_cores,
        loader_workers=loader_workers,
        job_workers=job_workers,
        worker_cpu_cores=worker_cpu_cores,
        job_main_cpu_cores=job_main_cpu_cores,
        worker_core_wait_share=worker_core_wait_share,
        job_main_thread_core_wait_share=job_main_thread_core_wait_share,
    )
    if loading is None:
        return Abstention(("loader_workers", "worker_cpu_cores"))

    in_threads = framework == "tensorflow" and loading.workers == 0
    is_parallel = (
        in_threads and _main_cores(job_main_cpu_cores) > limits.max_serial_cores
    )
    shortage = _Shortage(
        waiting,
        loading,
        effective_cores,
        cpu_share=typical(job_cpu_cores) / effective_cores,
        suggested=min(
            _best_count(loading, waiting, effective_cores, probe_workers_best, limits),
            workers_in_memory(loading.workers, job_memory_bytes, memory_limit_bytes),
            workers_in_shared_memory(loading.workers, shared_memory_used_share),
        ),
        is_crowded=is_crowded(job_cpu_cores, host_cpu_percent, host_cores),
        shared_memory_bytes=shared_memory_total_bytes,
        in_threads=in_threads,
    )
    gain = _gain(shortage, probe_workers_seconds)
    is_short = not is_parallel and _is_short_of_workers(
        shortage, already_open=already_open, limits=limits
    )
    if not is_short or gain.bound < limits.smallest_bound:
        return None
    return _finding(shortage, gain, framework, limits)


def check_profile(
    code_profile: str,
    job_workers: Samples,
    effective_cores: float,
    *,
    losses: Mapping[str, Tracked] | None = None,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    if typical(job_workers) >= 1 or effective_cores < limits.fewest_cores:
        return None
    loading = activity_of_training(
        code_profile, losses, busiest_gpu_percent, limits.profile_share, *DATA
    )
    if not isinstance(loading, Activity):
        return loading
    workers = int(
        min(effective_cores, 1 + loading.share / max(1e-9, 1.0 - loading.share))
    )
    return Finding(
        severity=(
            Severity.CRITICAL
            if loading.share >= limits.critical_share
            else Severity.WARNING
        ),
        summary=(
            f"{loading.sentence('preparing batches')}, and the job has no worker"
            " processes."
        ),
        evidence=(
            loading.evidence("the preparation of batches", limits.profile_share),
            Evidence("job_workers", "child processes", 0.0, "processes"),
        ),
        recommendations=(
            Recommendation(
                "Prepare batches in worker processes while the training step runs.",
                current="0 workers",
                suggested=count(workers, *WORKERS),
                code=loader_workers_line(framework, workers),
            ),
            Recommendation(
                "Time the batches, to see how much of each step they take.", code=LOADER
            ),
        ),
        disproof=(
            "Train for a minute on one batch, repeated: if steps take as long as now,"
            " they do not wait for data."
        ),
        gain=gain_of_share(loading.share, "Preparing batches"),
        explains=("gpu-utilization-is-low", "gpu-and-cpu-are-both-idle"),
        quality=SAMPLED,
        margin=margin_above(loading.share, limits.profile_share),
        corroboration=ALONE,
    )


def _missing(
    job_cpu_cores: Samples | None, effective_cores: float | None
) -> Abstention:
    has_cores = effective_cores is not None and effective_cores > 0
    missing = {"job_cpu_cores": job_cpu_cores, "effective_cores": has_cores or None}
    return Abstention(tuple(n for n, found in missing.items() if found is None))


def _best_count(
    loading: Loading,
    waiting: Waiting,
    effective_cores: float,
    tried: float | None,
    limits: Limits,
) -> int:
    # A measured count overrides the estimate, whether it is higher or lower.
    if tried is not None:
        return round(tried)
    return loading.workers_that_keep_up(waiting, effective_cores, limits.spare)


def _gain(shortage: _Shortage, tried_seconds: float | None) -> Gain:
    waiting = shortage.waiting
    floors: list[Floor] = [*shortage.loading.floors(waiting, shortage.effective_cores)]
    if tried_seconds is not None:
        floors.append(Floor(tried_seconds, "the loader with them, as tried"))
    elif shortage.suggested > 0:
        # Memory may limit the count, so the floor is computed for the suggested count.
        floors.append(shortage.loading.floor_with(shortage.suggested, waiting))
    return expected_gain(waiting.step_seconds, floors)


def _nobody_else_loads(
    waiting: Waiting, framework: str | None, limits: Limits
) -> Finding | None:
    """Judge by time only: without workers, loading and training alternate."""
    gain = waiting.gain_without()
    if gain.bound < limits.smallest_bound:
        return None
    wanted = max(1, ceil(waiting.seconds / waiting.compute_seconds * limits.spare))
    suggestion = count(wanted, "worker", "workers")
    return Finding(
        severity=waiting.severity(limits.critical_share),
        summary=(
            "Data loads in the training process:"
            f" each step waits {duration(waiting.exposed_seconds)} of"
            f" {duration(waiting.step_seconds)} for it"
            f" ({percent(waiting.exposed_share)}). The number of cores is unknown."
        ),
        evidence=(
            Evidence("loader_workers", "loader workers", 0, "processes"),
            waiting.evidence(limits.notable_share),
        ),
        recommendations=(
            Recommendation(
                "Load in worker processes if there are enough cores.",
                current=count(0, "worker", "workers"),
                suggested=f"at least {suggestion}",
                code=loader_workers_line(framework, wanted),
            ),
        ),
        disproof=(
            f"Run with {suggestion}: if the waiting stays, something else is the limit,"
            " such as storage, or the number of cores."
        ),
        gain=gain,
        explains=("preprocessing-is-cpu-bound", "data-wait-dominates"),
        margin=margin_above(waiting.exposed_share, limits.notable_share),
        corroboration=ALONE,
    )


def _is_short_of_workers(
    shortage: _Shortage, *, already_open: bool, limits: Limits
) -> bool:
    loading, cpu_share = shortage.loading, shortage.cpu_share
    if shortage.suggested <= loading.workers:
        return False
    if loading.workers == 0:
        limit = (
            limits.release_cpu_share
            if already_open
            else limits.max_cpu_share_without_workers
        )
        return cpu_share <= limit

    most = (
        limits.max_cpu_share_without_workers if already_open else limits.max_cpu_share
    )
    busy = (
        limits.busy_worker_release_cores if already_open else limits.busy_worker_cores
    )
    return cpu_share < most and loading.wanted_cores >= busy


def _main_cores(samples: Samples | None) -> float:
    return typical(samples) if samples is not None else 0.0


def _finding(
    shortage: _Shortage, gain: Gain, framework: str | None, limits: Limits
) -> Finding:
    waiting = shortage.waiting
    return Finding(
        severity=waiting.severity(limits.critical_share),
        summary=_summary(shortage),
        evidence=_evidence(shortage, limits),
        recommendations=_recommendations(shortage, framework, limits),
        disproof=(
            f"Run with {shortage.suggestion}: if the waiting stays, something that the"
            " workers share is the limit, such as storage."
        ),
        gain=gain,
        explains=(
            "preprocessing-is-cpu-bound",
            "batches-come-in-bursts",
            "host-memory-is-unused",
            "data-wait-dominates",
        ),
        quality=SAMPLED,
        margin=margin_above(waiting.exposed_share, limits.notable_share),
        corroboration=_corroboration(shortage, limits),
    )


def _recommendations(
    shortage: _Shortage, framework: str | None, limits: Limits
) -> tuple[Recommendation, ...]:
    workers = shortage.loading.workers
    line = loader_workers_line(framework, shortage.suggested)
    if shortage.in_threads:
        return (
            Recommendation(
                "Let tf.data load several elements in parallel and prefetch.",
                current="one element at a time",
                suggested=shortage.suggestion,
                code=line,
            ),
        )
    more = Recommendation(
        "Load in more processes." if workers else "Load in worker processes.",
        current=count(workers, "worker", "workers"),
        suggested=shortage.suggestion,
        code=line,
    )
    room = shortage.shared_memory_bytes
    if (
        framework not in ON_PYTORCH
        or not room
        or room >= limits.small_shared_memory_bytes
    ):
        return (more,)
    return (
        more,
        Recommendation(
            "Give the container more shared memory: workers pass batches through it.",
            current=f"{size(room)} of /dev/shm",
            suggested=size(8 * limits.small_shared_memory_bytes),
            code="docker run --shm-size=8g",
        ),
    )


def _summary(shortage: _Shortage) -> str:
    workers = shortage.loading.workers
    if workers:
        now = f"{count(workers, 'loader worker is', 'loader workers are')} always busy"
    elif shortage.in_threads:
        now = "The input pipeline loads one element at a time"
    else:
        now = "Data loads in the training process"
    used = shortage.cpu_share * shortage.effective_cores
    others = " Other jobs use the rest of the host." if shortage.is_crowded else ""
    return (
        f"{now}: each step waits {percent(shortage.waiting.exposed_share)} of its"
        f" time, and the job uses {cores(used)} of {shortage.effective_cores:g}.{others}"
    )


def _corroboration(shortage: _Shortage, limits: Limits) -> float:
    loading = shortage.loading
    if not loading.is_counted:
        return CONTRADICTED if loading.workers else ALONE
    if shortage.is_crowded:
        return ALONE
    # The worker count and the load of the process tree are independent sources.
    return AGREEING if loading.wanted_cores >= limits.busy_worker_cores else ALONE


def _evidence(shortage: _Shortage, limits: Limits) -> tuple[Evidence, ...]:
    waiting, loading = shortage.waiting, shortage.loading
    effective_cores = shortage.effective_cores
    return (
        Evidence(
            "loader_workers" if loading.is_counted else "job_workers",
            "loader workers" if loading.is_counted else "child processes",
            loading.workers,
            "processes",
        ),
        waiting.evidence(limits.notable_share),
        Evidence(
            "job_cpu_cores",
            f"CPU cores in use, median, of {effective_cores:g}",
            shortage.cpu_share * effective_cores,
            "cores",
            (
                limits.max_cpu_share
                if loading.workers
                else limits.max_cpu_share_without_workers
            )
            * effective_cores,
            Side.BELOW,
            release=(
                limits.max_cpu_share_without_workers
                if loading.workers
                else limits.release_cpu_share
            )
            * effective_cores,
        ),
        Evidence(
            "worker_cpu_cores" if loading.workers else "job_main_cpu_cores",
            "cores kept busy by one loading process",
            loading.busy_cores,
            "cores",
        ),
        Evidence(
            "job_cpu_cores",
            f"CPU time to load one batch, of {duration(waiting.step_seconds)} per step",
            loading.cpu_seconds,
            "s",
        ),
    )
