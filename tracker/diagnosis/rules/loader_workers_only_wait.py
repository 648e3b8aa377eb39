"""Loader workers only wait.

## Detection
Steps that wait for data, while the loader workers hardly use a core and do not wait for local
storage: they wait for something slow, such as the network or a database.

## Why it matters
A waiting worker needs no core. More workers wait in parallel, so the number of cores does not
limit the number of workers.

## Limitations
Idle workers look the same if training waits for only one of them. If every batch of one worker
is late, that worker is the cause.
The slow resource may have its own limit, such as the bandwidth of a server: more workers do
not help then.
Workers that read from a network file system belong to the rule about remote storage.

Catalogue: D3, too few loader workers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import (
    average_or_none,
    margin_above,
    typical,
    typical_or_none,
)
from tracker.diagnosis.engine.finding import (
    ALONE,
    SAMPLED,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Side,
)
from tracker.diagnosis.engine.frameworks import loader_workers_line
from tracker.diagnosis.engine.speedup import Floor
from tracker.diagnosis.engine.wording import count, duration, percent
from tracker.diagnosis.input.loading import (
    SPARE,
    WAITING_CORES,
    workers_in_memory,
    workers_in_shared_memory,
)
from tracker.diagnosis.input.storage import blocked_share
from tracker.diagnosis.input.waiting import (
    NOTABLE_SHARE,
    CoreUse,
    Waiting,
    measure_notable_waiting,
)
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    spare: float = SPARE
    waiting_cores: float = WAITING_CORES
    notable_share: float = NOTABLE_SHARE

    # Share of one core.
    release_cores: float = 0.30
    # Use of the busiest worker, which may be the one that training waits for.
    max_busy_cores: float = 0.50
    # Share of the workers, or of time; workers that wait for storage belong to other
    # rules.
    storage_share: float = 0.10
    # Share of time; workers that wait for a core would use one.
    core_wait_share: float = 0.10

    critical_share: float = 0.20


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    loader_workers: float,
    worker_cpu_cores: Samples,
    *,
    worker_cpu_cores_max: Samples | None = None,
    job_main_thread_cpu_cores: Samples | None = None,
    job_main_thread_core_wait_share: Samples | None = None,
    worker_core_wait_share: Samples | None = None,
    job_workers: Samples | None = None,
    workers_blocked: Samples | None = None,
    io_pressure_share: Samples | None = None,
    data_is_on_network: float | None = None,
    job_memory_bytes: Samples | None = None,
    memory_limit_bytes: float | None = None,
    shared_memory_used_share: Samples | None = None,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    if not loader_workers >= 1:
        return None
    waiting = measure_notable_waiting(
        step_seconds,
        data_wait_seconds,
        busiest_gpu_percent,
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
    busy = typical(worker_cpu_cores)
    is_idle = busy <= (limits.release_cores if already_open else limits.waiting_cores)
    waits_for_machine = (
        bool(data_is_on_network)
        or (typical_or_none(worker_cpu_cores_max) or 0.0) >= limits.max_busy_cores
        or (average_or_none(worker_core_wait_share) or 0.0) >= limits.core_wait_share
        or (average_or_none(io_pressure_share) or 0.0) >= limits.storage_share
        or (blocked_share(loader_workers, job_workers, workers_blocked) or 0.0)
        >= limits.storage_share
    )
    if not is_idle or waits_for_machine:
        return None
    workers = round(loader_workers)
    wanted = min(
        _that_keep_up(workers, waiting, limits),
        workers_in_memory(workers, job_memory_bytes, memory_limit_bytes),
        workers_in_shared_memory(workers, shared_memory_used_share),
    )
    return (
        None
        if wanted <= workers
        else _finding(waiting, workers, wanted, busy, framework, limits=limits)
    )


def _that_keep_up(workers: int, waiting: Waiting, limits: Limits) -> int:
    """Return how many workers load one batch per training step."""
    of_one = workers * waiting.step_seconds
    return math.ceil(limits.spare * of_one / max(waiting.compute_seconds, of_one / 1e6))


def _finding(
    waiting: Waiting,
    workers: int,
    wanted: int,
    busy: float,
    framework: str | None,
    *,
    limits: Limits,
) -> Finding:
    who = count(workers, "loader worker uses", "loader workers use")
    return Finding(
        severity=waiting.severity(limits.critical_share),
        summary=(
            f"Each step waits {duration(waiting.exposed_seconds)} of"
            f" {duration(waiting.step_seconds)} for its batch"
            f" ({percent(waiting.exposed_share)}), and {who} {percent(busy)} of a core"
            f"{' each' if workers > 1 else ''}: they wait for something slow, such as the"
            " network."
        ),
        evidence=(
            Evidence("loader_workers", "loader workers", workers, "processes"),
            waiting.evidence(limits.notable_share),
            Evidence(
                "worker_cpu_cores",
                "cores kept busy by one worker, median",
                busy,
                "cores",
                limits.waiting_cores,
                Side.BELOW,
                release=limits.release_cores,
            ),
        ),
        recommendations=(
            Recommendation(
                "Use more loader workers: they need no core while they wait.",
                current=count(workers, "worker", "workers"),
                suggested=count(wanted, "worker", "workers"),
                code=loader_workers_line(framework, wanted),
            ),
            Recommendation(
                "Find the cause of the waits. If only one worker is late, look at its part of"
                " the data first.",
                code="py-spy dump --pid <worker>",
            ),
            Recommendation(
                "Fetch several examples in one request, or keep a copy of the data on a local"
                " disk."
            ),
        ),
        disproof=(
            f"Run with {count(wanted, 'worker', 'workers')}: if the waiting stays, all of"
            " them share a limit, such as the bandwidth of a server."
        ),
        gain=waiting.gain_without(
            Floor(
                workers * waiting.step_seconds / wanted,
                f"loading in {count(wanted, 'worker', 'workers')}",
            )
        ),
        explains=(
            "batches-come-in-bursts",
            "data-wait-dominates",
            "host-memory-is-unused",
            "steps-are-slow-now-and-then",
        ),
        quality=SAMPLED,
        margin=margin_above(waiting.exposed_share, limits.notable_share),
        corroboration=ALONE,
    )
