"""Free host memory could hold the data.

## Detection
Steps that wait for data while much memory is free: enough for the data of an epoch, if loading
waits for storage; or twice the need of more workers.

## Why it matters
Data in memory is not read from a disk, and additional workers cost only memory.

## Limitations
Low memory use alone is not a fault; nothing is reported if steps do not wait.
The size of the data is estimated from the reads of an epoch; decoded data may be larger.
The memory of a worker is estimated from that of the existing processes.

Catalogue: D16, unused memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.epochs import find_epochs
from tracker.diagnosis.analysis.statistics import highest, margin_above
from tracker.diagnosis.engine.finding import (
    ALONE,
    SAMPLED,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.frameworks import loader_workers_line
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import count, percent, size
from tracker.diagnosis.input.code_lines import in_memory_line
from tracker.diagnosis.input.epoch_reads import bytes_of_epochs
from tracker.diagnosis.input.loading import Loading, measure_loading
from tracker.diagnosis.input.storage import WaitLimits, measure_storage_wait
from tracker.diagnosis.input.waiting import Waiting, measure_notable_waiting
from tracker.diagnosis.signals import Array, Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Free memory relative to the need.
    room_for_data: float = 1.25
    room_for_workers: float = 2.0

    # Limits for loading that waits for storage: share of loading processes, and of time.
    blocked_share: float = 0.20
    pressure_share: float = 0.20
    # Share of one core; workers above it are busy, and more of them could help.
    busy_worker_cores: float = 0.80

    @property
    def waits(self) -> WaitLimits:
        return WaitLimits(
            self.blocked_share,
            self.blocked_share,
            self.pressure_share,
            self.pressure_share,
        )


@dataclass(frozen=True, slots=True)
class _Use:
    what: str
    needed: float
    room: float  # relative to `needed`
    recommendation: Recommendation


def check(
    *,
    step_seconds: Array,
    data_wait_seconds: Array,
    job_cpu_cores: Samples,
    effective_cores: float,
    job_memory_bytes: Samples,
    memory_limit_bytes: float,
    step_end_seconds: Array | None = None,
    gap_before_step_seconds: Array | None = None,
    cgroup_memory_used_bytes: Samples | None = None,
    host_memory_used_bytes: Samples | None = None,
    host_memory_bytes: float | None = None,
    job_requested_bytes_per_second: Samples | None = None,
    loader_workers: float | None = None,
    job_workers: Samples | None = None,
    workers_blocked: Samples | None = None,
    io_pressure_share: Samples | None = None,
    worker_cpu_cores: Samples | None = None,
    job_main_cpu_cores: Samples | None = None,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    waiting = measure_notable_waiting(
        step_seconds, data_wait_seconds, busiest_gpu_percent, already_open=already_open
    )
    if waiting is None:
        return None
    used = highest(cgroup_memory_used_bytes or job_memory_bytes)
    free = memory_limit_bytes - used
    if host_memory_used_bytes is not None and host_memory_bytes is not None:
        free = min(free, host_memory_bytes - highest(host_memory_used_bytes))

    storage = measure_storage_wait(
        loader_workers=loader_workers,
        job_workers=job_workers,
        workers_blocked=workers_blocked,
        io_pressure_share=io_pressure_share,
    )
    loading = measure_loading(
        waiting,
        job_cpu_cores,
        loader_workers=loader_workers,
        job_workers=job_workers,
        worker_cpu_cores=worker_cpu_cores,
        job_main_cpu_cores=job_main_cpu_cores,
    )
    use = None
    if storage and storage.exceeds(limits.waits, already_open=already_open):
        data = _bytes_of_epoch(
            step_seconds,
            step_end_seconds,
            gap_before_step_seconds,
            job_requested_bytes_per_second,
        )
        use = _for_data(data, free, framework, limits)
    if use is None and loading is not None and effective_cores > 0:
        workers = loading.workers_that_keep_up(waiting, effective_cores)
        use = _for_workers(loading, workers, free, used, framework, limits=limits)
    return _finding(waiting, use, free, memory_limit_bytes) if use else None


def _bytes_of_epoch(
    seconds: Array, ends: Array | None, gaps: Array | None, requested: Samples | None
) -> float | None:
    if ends is None or gaps is None or requested is None:
        return None
    read = bytes_of_epochs(find_epochs(seconds, ends, gaps), requested)
    return None if read is None else float(read.max())


def _for_data(
    data: float | None, free: float, framework: str | None, limits: Limits
) -> _Use | None:
    if not data or free < limits.room_for_data * data:
        return None
    return _Use(
        "the data of an epoch",
        data,
        free / data,
        Recommendation(
            "Keep the data in memory.",
            current=f"{size(free)} free",
            suggested=f"{size(data)} for the data",
            code=in_memory_line(framework),
        ),
    )


def _for_workers(
    loading: Loading,
    workers: int,
    free: float,
    used: float,
    framework: str | None,
    *,
    limits: Limits,
) -> _Use | None:
    more = workers - loading.workers
    is_busy = loading.workers == 0 or loading.busy_cores >= limits.busy_worker_cores
    if more <= 0 or not is_busy or not used > 0:
        return None
    needed = more * used / (loading.workers + 1)
    if free < limits.room_for_workers * needed:
        return None
    return _Use(
        f"{count(more, 'more worker', 'more workers')}",
        needed,
        free / needed,
        Recommendation(
            "Use more loader workers: there is enough memory for them.",
            current=count(loading.workers, "worker", "workers"),
            suggested=count(workers, "worker", "workers"),
            code=loader_workers_line(framework, workers),
        ),
    )


def _finding(waiting: Waiting, use: _Use, free: float, limit: float) -> Finding:
    return Finding(
        severity=Severity.NOTICE,
        summary=(
            f"{size(free)} of {size(limit)} memory is free, {use.room:.3g} times"
            f" the room for {use.what}, and steps wait"
            f" {percent(waiting.exposed_share)} of their time for data."
        ),
        evidence=(
            Evidence(
                "job_memory_bytes",
                "free memory",
                free,
                "B",
                use.needed,
                Side.ABOVE,
            ),
            Evidence("memory_limit_bytes", "memory limit of the job", limit, "B"),
            waiting.evidence(),
        ),
        recommendations=(use.recommendation,),
        disproof=(
            "Apply the change for a few hundred steps: if they wait as long as now, memory"
            " is not the limit."
        ),
        quality=SAMPLED,
        only_beside=("data-wait-dominates",),
        margin=margin_above(use.room, 1.0),
        corroboration=ALONE,
    )
