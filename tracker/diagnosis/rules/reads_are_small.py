"""Data is read in small pieces.

## Detection
Steps that wait for data while the loading processes wait for storage, with read requests below
64 KiB on average and less than half of the best rate ever measured.

## Why it matters
A disk needs about the same time for a request of a few kilobytes as for a larger one: with one
file per example, most of the time is spent on seeks and lookups instead of transfers.

## Limitations
Requests are counted at local disks, after merging by the kernel; requests of other processes
of the container count as well.
Random access to data that is mostly cached reads the rest in small pieces and is excluded.
If no run has ever read fast, the best rate is a weak reference, and the finding is less
certain.

Catalogue: D7, small files.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import average, highest, margin_below
from tracker.diagnosis.engine.finding import (
    ALONE,
    COARSE,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Side,
)
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import percent, size
from tracker.diagnosis.input.code_lines import shards_line
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

    largest_request_bytes: float = 65_536.0
    largest_share_of_best_rate: float = 0.50
    # Fewer requests are no load for any disk.
    fewest_requests_per_second: float = 50.0
    min_read_bytes_per_second: float = 10_000.0

    # Share of the loading processes, and of time.
    blocked_share: float = 0.30
    blocked_release_share: float = 0.20
    pressure_share: float = 0.20
    pressure_release_share: float = 0.14

    # A job that requests this many times the bytes read from disks has its data in
    # memory.
    cached_requests_of_reads: float = 5.0

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
class _Reads:
    signal: str  # where the requests were counted
    per_second: float
    bytes_per_second: float
    best: float | None
    per_example: float | None
    quality: float

    @property
    def bytes_each(self) -> float:
        return self.bytes_per_second / self.per_second


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    *,
    cgroup_reads_per_second: Samples | None = None,
    cgroup_read_bytes_per_second: Samples | None = None,
    host_disk_reads_per_second: Samples | None = None,
    host_disk_read_bytes_per_second: Samples | None = None,
    best_read_bytes_per_second: float | None = None,
    job_read_bytes_per_second: Samples | None = None,
    job_requested_bytes_per_second: Samples | None = None,
    step_examples: Array | None = None,
    loader_workers: float | None = None,
    job_workers: Samples | None = None,
    workers_blocked: Samples | None = None,
    io_pressure_share: Samples | None = None,
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
    if data_is_on_network or _is_cached(
        job_read_bytes_per_second, job_requested_bytes_per_second, limits
    ):
        return None
    per_second = _examples_per_second(step_seconds, step_examples)
    of_container = ("cgroup_reads_per_second", cgroup_reads_per_second)
    of_host = ("host_disk_reads_per_second", host_disk_reads_per_second)
    reads = _count(
        *of_container,
        cgroup_read_bytes_per_second,
        best_read_bytes_per_second,
        per_second,
    ) or _count(
        *of_host,
        host_disk_read_bytes_per_second,
        best_read_bytes_per_second,
        per_second,
    )
    if reads is None:
        return Abstention(("cgroup_reads_per_second", "host_disk_reads_per_second"))
    storage = measure_storage_wait(
        loader_workers=loader_workers,
        job_workers=job_workers,
        workers_blocked=workers_blocked,
        io_pressure_share=io_pressure_share,
    )
    if storage is None:
        return Abstention(WAITING_SIGNALS)

    waits = storage.exceeds(limits.waits, already_open=already_open)
    return (
        _finding(waiting, storage, reads, framework, limits)
        if waits and _small(reads, limits)
        else None
    )


def _is_cached(read: Samples | None, requested: Samples | None, limits: Limits) -> bool:
    """Return whether all or most of the data is in memory."""
    if read is not None and average(read.values) < limits.min_read_bytes_per_second:
        return True
    if read is None or requested is None:
        return False
    return average(requested.values) > limits.cached_requests_of_reads * average(
        read.values
    )


def _examples_per_second(seconds: Array, examples: Array | None) -> float | None:
    total = float(seconds.sum())
    return float(examples.sum()) / total if examples is not None and total else None


def _count(
    signal: str,
    requests: Samples | None,
    read: Samples | None,
    best: float | None,
    examples_per_second: float | None,
) -> _Reads | None:
    if requests is None or read is None:
        return None
    per_second = average(requests.values)
    if not per_second > 0:
        return None
    return _Reads(
        signal,
        per_second,
        average(read.values),
        None if best is None else max(best, highest(read)),
        per_second / examples_per_second if examples_per_second else None,
        requests.quality,
    )


def _small(reads: _Reads, limits: Limits) -> bool:
    return (
        reads.per_second >= limits.fewest_requests_per_second
        and reads.bytes_each < limits.largest_request_bytes
        and (
            reads.best is None
            or reads.bytes_per_second < limits.largest_share_of_best_rate * reads.best
        )
    )


def _finding(
    waiting: Waiting,
    storage: StorageWait,
    reads: _Reads,
    framework: str | None,
    limits: Limits,
) -> Finding:
    known = min(storage.quality, reads.quality)
    return Finding(
        severity=waiting.severity(limits.critical_share),
        summary=(
            f"{reads.per_second:.0f} reads/s of {size(reads.bytes_each)} each"
            f" add up to {size(reads.bytes_per_second)}/s{_of_best(reads)}. Steps wait"
            f" {percent(waiting.exposed_share)} of their time for data."
        ),
        evidence=_evidence(waiting, storage, reads, limits),
        recommendations=(
            Recommendation(
                "Pack the examples into a few large files and read these sequentially,"
                " with shuffling of files and in a buffer.",
                current=f"{size(reads.bytes_each)} per read",
                suggested="1 MiB or more per read",
                code=shards_line(framework),
            ),
            Recommendation(
                "Until then, load in more processes, so that the disk has several"
                " requests to choose from."
            ),
        ),
        disproof=(
            "Concatenate the files into one large file with `cat` and time reading it: if"
            " it is no faster, the request size is not the limit."
        ),
        gain=_gain(waiting, reads),
        explains=(
            "local-storage-is-at-its-limit",
            "batches-come-in-bursts",
            "host-memory-is-unused",
            "data-wait-dominates",
        ),
        quality=min(known, COARSE) if reads.best is None else known,
        margin=margin_below(reads.bytes_each, limits.largest_request_bytes),
        corroboration=ALONE,
    )


def _of_best(reads: _Reads) -> str:
    if not reads.best:
        return ""
    return f" (best rate seen: {size(reads.best)}/s)"


def _gain(waiting: Waiting, reads: _Reads) -> Gain:
    floors = [waiting.own_work]
    if reads.best:
        floors.append(
            Floor(
                waiting.step_seconds * reads.bytes_per_second / reads.best,
                f"reading at the best rate seen, {size(reads.best)}/s",
            )
        )
    return expected_gain(waiting.step_seconds, tuple(floors))


def _evidence(
    waiting: Waiting, storage: StorageWait, reads: _Reads, limits: Limits
) -> tuple[Evidence, ...]:
    found = [
        Evidence(reads.signal, "reads per second, mean", reads.per_second, ""),
        Evidence(
            reads.signal.replace("reads", "read_bytes"),
            "size of a read, mean",
            reads.bytes_each,
            "B",
            limits.largest_request_bytes,
            Side.BELOW,
        ),
        *storage.evidence(limits.waits),
        waiting.evidence(),
    ]
    if reads.per_example is not None:
        found.append(
            Evidence("step_examples", "reads per example", reads.per_example, "reads")
        )
    return tuple(found)
