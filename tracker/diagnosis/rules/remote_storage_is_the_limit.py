"""Network storage is the limit.

## Detection
Steps that wait for data from a network file system, or for reads that follow the network
receive rate, while the loading processes wait for storage and the CPU is not busy.

## Why it matters
A file server has its own limits, serves other clients, and needs a network round trip for each
request. A faster GPU or CPU does not help.

## Limitations
Reads from NFS, Lustre and object stores do not appear in disk counters, so idle disks prove
nothing. The location of the data is known if `SEAMARK_DATASET` names its folder; otherwise the
working directory is used, and the finding is less certain.
A process without workers waits for every response: more processes come first.

Catalogue: D8, remote storage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tracker.diagnosis.analysis.statistics import average, margin_above, typical
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    COARSE,
    CONTRADICTED,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Side,
)
from tracker.diagnosis.engine.wording import percent, size
from tracker.diagnosis.input.code_lines import local_copy_line, shards_line
from tracker.diagnosis.input.storage import (
    WAITING_SIGNALS,
    StorageWait,
    WaitLimits,
    correlation,
    measure_storage_wait,
)
from tracker.diagnosis.input.waiting import (
    NOTABLE_SHARE,
    Waiting,
    measure_notable_waiting,
)
from tracker.diagnosis.signals import Array, Samples
from tracker.diagnosis.signals.signal import FLAG


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = NOTABLE_SHARE

    # Share of the loading processes, and of time.
    blocked_share: float = 0.20
    blocked_release_share: float = 0.14
    pressure_share: float = 0.20
    pressure_release_share: float = 0.14
    # Correlation of the job's reads with the network receive rate.
    min_correlation: float = 0.80
    min_network_bytes_per_second: float = 1_000_000.0

    # Share of the job's cores, and of one core per loading process; above, loading
    # computes.
    max_cpu_share: float = 0.70
    busy_loader_cores: float = 0.80

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
class _Remote:
    where: str
    signal: str  # signal that shows that the data is remote
    is_certain: bool
    storage: StorageWait | None
    correlation: float | None
    received: float | None  # bytes per second
    requested: float | None
    limits: Limits

    @property
    def moves_with_network(self) -> bool:
        return (
            self.correlation is not None
            and self.correlation > self.limits.min_correlation
            and (self.received or 0.0) >= self.limits.min_network_bytes_per_second
        )


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    job_cpu_cores: Samples,
    effective_cores: float,
    *,
    data_is_on_network: float | None = None,
    data_file_system: str | None = None,
    work_is_on_network: float | None = None,
    work_file_system: str | None = None,
    job_requested_bytes_per_second: Samples | None = None,
    host_network_receive_bytes_per_second: Samples | None = None,
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
        step_seconds,
        data_wait_seconds,
        busiest_gpu_percent,
        notable_share=limits.notable_share,
        already_open=already_open,
    )
    if waiting is None:
        return None
    # A process that loads the data itself, or workers.
    loaders = worker_cpu_cores if loader_workers != 0 else job_main_cpu_cores
    loaders = loaders or job_main_cpu_cores
    if (
        data_is_on_network == 0
        or typical(job_cpu_cores) >= limits.max_cpu_share * effective_cores
        or (loaders is not None and typical(loaders) >= limits.busy_loader_cores)
    ):
        return None

    remote = _locate(
        (data_is_on_network, data_file_system),
        (work_is_on_network, work_file_system),
        measure_storage_wait(
            loader_workers=loader_workers,
            job_workers=job_workers,
            workers_blocked=workers_blocked,
            io_pressure_share=io_pressure_share,
        ),
        job_requested_bytes_per_second,
        host_network_receive_bytes_per_second,
        limits=limits,
    )
    if remote is None or (remote.storage is None and remote.correlation is None):
        lacks = ("data_is_on_network",) if remote is None else WAITING_SIGNALS
        return Abstention(lacks)
    waits = remote.storage is not None and remote.storage.exceeds(
        limits.waits, already_open=already_open
    )
    if not waits and not remote.moves_with_network:
        return None
    return _finding(
        waiting, remote, loader_workers, framework, waits=waits, limits=limits
    )


def _locate(
    data: tuple[float | None, str | None],
    work: tuple[float | None, str | None],
    storage: StorageWait | None,
    requested: Samples | None,
    received: Samples | None,
    *,
    limits: Limits,
) -> _Remote | None:
    """Return where the data is; None if no signal shows it."""
    together = None
    if requested is not None and received is not None:
        together = correlation(requested, received)
    found = _Remote(
        where="the network",
        signal="host_network_receive_bytes_per_second",
        is_certain=False,
        storage=storage,
        correlation=together,
        received=average(received.values) if received is not None else None,
        requested=average(requested.values) if requested is not None else None,
        limits=limits,
    )
    (data_is_remote, data_kind), (work_is_remote, work_kind) = data, work
    if data_is_remote:
        where = f"a network file system ({data_kind})" if data_kind else "a network"
        return replace(found, where=where, signal="data_is_on_network", is_certain=True)
    if found.moves_with_network:
        return found
    if work_is_remote:
        where = f"the file system of the working directory ({work_kind or 'network'})"
        return replace(found, where=where, signal="work_is_on_network")
    return None


def _finding(
    waiting: Waiting,
    remote: _Remote,
    loader_workers: float | None,
    framework: str | None,
    *,
    waits: bool,
    limits: Limits,
) -> Finding:
    if loader_workers == 0:
        corroboration = CONTRADICTED
    else:
        corroboration = AGREEING if waits and remote.moves_with_network else ALONE
    quality = remote.storage.quality if waits and remote.storage else SAMPLED
    return Finding(
        severity=waiting.severity(limits.critical_share),
        summary=(
            f"The data comes from {remote.where}{_rate(remote)}. Loading waits"
            " for it with an idle CPU, and steps wait"
            f" {percent(waiting.exposed_share)} of their time for data."
        ),
        evidence=_evidence(waiting, remote, limits),
        recommendations=_recommendations(framework),
        disproof=(
            "Copy a part of the data to a local disk and train on that: if steps wait as"
            " long as now, the network is not the limit."
        ),
        gain=waiting.gain_without(),
        explains=(
            "batches-come-in-bursts",
            "host-memory-is-unused",
            "data-wait-dominates",
        ),
        quality=quality if remote.is_certain else min(quality, COARSE),
        margin=margin_above(waiting.exposed_share, limits.notable_share),
        corroboration=corroboration,
    )


def _rate(remote: _Remote) -> str:
    rate = remote.requested or remote.received
    return f" at {size(rate)}/s" if rate else ""


def _evidence(
    waiting: Waiting, remote: _Remote, limits: Limits
) -> tuple[Evidence, ...]:
    found = [waiting.evidence()]
    if remote.signal.endswith("_is_on_network"):
        found.append(
            Evidence(remote.signal, "data on a network file system", 1.0, FLAG)
        )
    if remote.storage is not None:
        found += remote.storage.evidence(limits.waits)
    if remote.received is not None:
        found.append(
            Evidence(
                "host_network_receive_bytes_per_second",
                "network receive rate, mean",
                remote.received,
                "B/s",
            )
        )
    if remote.correlation is not None:
        found.append(
            Evidence(
                "job_requested_bytes_per_second",
                "correlation of reads with the network receive rate",
                remote.correlation,
                "",
                limits.min_correlation,
                Side.ABOVE,
            )
        )
    return tuple(found)


def _recommendations(framework: str | None) -> tuple[Recommendation, ...]:
    return (
        Recommendation(
            "Copy the data to a local disk before training, or cache it there as it"
            " is read.",
            code=local_copy_line(framework),
        ),
        Recommendation(
            "Store the examples in larger files: each request then returns more data per"
            " round trip.",
            code=shards_line(framework),
        ),
        Recommendation(
            "Keep more requests in flight: read in more processes, and prefetch more."
        ),
    )
