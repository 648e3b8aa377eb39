"""Local storage is at its limit.

## Detection
Steps that wait for data while the loading processes wait for storage, and the job reads nearly
as fast as the fastest run of this project on this host.

## Why it matters
If a disk delivers its maximum, more workers and more cores only wait together.

## Limitations
The best rate is an observation, not the limit of the disk: if no run has ever read faster, a
reader with one request at a time looks the same. A process without workers is such a reader,
and the finding is less certain then.
Rates belong to the runs of the host, not to one disk: a faster disk on it raises the limit.
If it is unknown whether the data is local, local disks must have delivered half of the job's
reads, as far as they are counted.
Storage pressure can come from writes; if the job writes more than it reads, nothing is
reported.

Catalogue: D6, local storage throughput.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import (
    average,
    highest,
    typical,
    typical_or_none,
)
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    COARSE,
    CONTRADICTED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Side,
)
from tracker.diagnosis.engine.wording import duration, percent, size
from tracker.diagnosis.input.code_lines import in_memory_line, shards_line
from tracker.diagnosis.input.storage import (
    WAITING_SIGNALS,
    StorageWait,
    WaitLimits,
    measure_storage_wait,
)
from tracker.diagnosis.input.waiting import Waiting, measure_notable_waiting
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Share of the loading processes, and of time.
    blocked_share: float = 0.30
    blocked_release_share: float = 0.20
    pressure_share: float = 0.20
    pressure_release_share: float = 0.14

    share_of_best_rate: float = 0.80
    # A lower rate is no load for any disk, so the limit is elsewhere.
    lowest_rate_bytes_per_second: float = 1_000_000.0

    # Share of the job's reads from local disks; the rest comes over a network.
    min_part_of_disks: float = 0.50

    critical_share: float = 0.20

    @property
    def waits(self) -> WaitLimits:
        return WaitLimits(
            self.blocked_share,
            self.blocked_release_share,
            self.pressure_share,
            self.pressure_release_share,
        )


@dataclass(frozen=True, slots=True)
class _Reading:
    bytes_per_second: float
    best: float
    is_best_of_earlier_runs: bool
    seconds_of_a_read: float | None
    queue: float | None

    @property
    def share(self) -> float:
        return self.bytes_per_second / self.best


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    job_read_bytes_per_second: Samples,
    *,
    best_read_bytes_per_second: float | None = None,
    job_write_bytes_per_second: Samples | None = None,
    loader_workers: float | None = None,
    job_workers: Samples | None = None,
    workers_blocked: Samples | None = None,
    io_pressure_share: Samples | None = None,
    cgroup_read_bytes_per_second: Samples | None = None,
    host_disk_read_bytes_per_second: Samples | None = None,
    host_disk_read_seconds: Samples | None = None,
    host_disk_queue: Samples | None = None,
    data_is_on_network: float | None = None,
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
    is_elsewhere = data_is_on_network or (
        data_is_on_network is None
        and _comes_from_elsewhere(
            job_read_bytes_per_second,
            cgroup_read_bytes_per_second or host_disk_read_bytes_per_second,
            limits,
        )
    )
    rate = typical(job_read_bytes_per_second)
    is_trickle = rate < limits.lowest_rate_bytes_per_second
    if (
        is_elsewhere
        or is_trickle
        or _writes_more(job_read_bytes_per_second, job_write_bytes_per_second)
    ):
        return None
    storage = measure_storage_wait(
        loader_workers=loader_workers,
        job_workers=job_workers,
        workers_blocked=workers_blocked,
        io_pressure_share=io_pressure_share,
    )
    if storage is None:
        return Abstention(WAITING_SIGNALS)
    if not storage.exceeds(limits.waits, already_open=already_open):
        return None

    own_best = highest(job_read_bytes_per_second)
    reading = _Reading(
        bytes_per_second=rate,
        best=max(own_best, best_read_bytes_per_second or 0.0),
        is_best_of_earlier_runs=best_read_bytes_per_second is not None,
        seconds_of_a_read=typical_or_none(host_disk_read_seconds),
        queue=typical_or_none(host_disk_queue),
    )
    if reading.share < limits.share_of_best_rate:
        return None
    return _finding(waiting, storage, reading, loader_workers, framework, limits=limits)


def _comes_from_elsewhere(
    read: Samples, of_disks: Samples | None, limits: Limits
) -> bool:
    """Return whether local disks delivered too little to be the source of the reads."""
    if of_disks is None:
        return False
    return average(of_disks.values) < limits.min_part_of_disks * average(read.values)


def _writes_more(read: Samples, written: Samples | None) -> bool:
    return written is not None and typical(written) > typical(read)


def _finding(
    waiting: Waiting,
    storage: StorageWait,
    reading: _Reading,
    loader_workers: float | None,
    framework: str | None,
    *,
    limits: Limits,
) -> Finding:
    # A single reader is slow on any disk, so more workers come first.
    is_single = loader_workers == 0
    symptoms = ("preprocessing-is-cpu-bound", "batches-come-in-bursts")
    return Finding(
        severity=waiting.severity(limits.critical_share),
        summary=(
            f"The job reads {size(reading.bytes_per_second)}/s,"
            f" {percent(reading.share)} of the best rate that {_whose(reading)}."
            f" Steps wait {percent(waiting.exposed_share)} of their time for data"
            " while loading waits for storage."
        ),
        evidence=_evidence(waiting, storage, reading, limits),
        recommendations=_recommendations(reading, framework),
        disproof=(
            "Copy a part of the data into /dev/shm and train on that: if steps wait as"
            " long as now, storage is not the limit."
        ),
        gain=waiting.gain_without(),
        explains=(
            *(() if is_single else ("too-few-loader-workers",)),
            *symptoms,
            "host-memory-is-unused",
            "data-wait-dominates",
        ),
        quality=(
            storage.quality
            if reading.is_best_of_earlier_runs
            else min(storage.quality, COARSE)
        ),
        margin=storage.margin(limits.waits),
        corroboration=_corroboration(storage, is_single=is_single, limits=limits),
    )


def _whose(reading: _Reading) -> str:
    if reading.is_best_of_earlier_runs:
        return "runs of this project reached on this host"
    return "this run reached"


def _corroboration(storage: StorageWait, *, is_single: bool, limits: Limits) -> float:
    if is_single:
        return CONTRADICTED
    return AGREEING if storage.agrees(limits.waits) else ALONE


def _evidence(
    waiting: Waiting, storage: StorageWait, reading: _Reading, limits: Limits
) -> tuple[Evidence, ...]:
    found = [
        Evidence(
            "job_read_bytes_per_second",
            f"read rate, median, share of the best rate of {size(reading.best)}/s",
            reading.share,
            "share",
            limits.share_of_best_rate,
            Side.ABOVE,
        ),
        *storage.evidence(limits.waits),
        waiting.evidence(),
    ]
    if reading.seconds_of_a_read is not None:
        found.append(
            Evidence(
                "host_disk_read_seconds",
                "time of one read, median",
                reading.seconds_of_a_read,
                "s",
            )
        )
    if reading.queue is not None:
        found.append(
            Evidence(
                "host_disk_queue",
                "disk queue length, median",
                reading.queue,
                "requests",
            )
        )
    return tuple(found)


def _recommendations(
    reading: _Reading, framework: str | None
) -> tuple[Recommendation, ...]:
    slow = reading.seconds_of_a_read
    took = f" A read takes {duration(slow)} there now." if slow else ""
    return (
        Recommendation(
            f"Put the data on a faster disk, such as a local NVMe disk.{took}",
            current=f"{size(reading.bytes_per_second)} a second",
        ),
        Recommendation(
            "Read less per example: store only the data that training needs, resized and"
            " compressed, in a few large files with sequential reads.",
            code=shards_line(framework),
        ),
        Recommendation(
            "Keep the data in memory if it fits.", code=in_memory_line(framework)
        ),
    )
