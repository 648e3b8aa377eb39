"""Host memory is short.

## Detection
Tasks that wait for memory in at least 10 % of the time; more than 1 MB per second read back
from swap; memory use, without page cache, of 95 % of the limit; or shared memory
(`/dev/shm`) that is 90 % full.

## Why it matters
Near the limit the kernel reclaims memory instead of running the job, and then kills a
process, often a loader worker. Full shared memory ends loader workers with a bus error.

## Limitations
The page cache fills all free memory and is released at once: it does not count as use, even
if the container is at its limit.
Swap counters cover the whole host: another job may cause them.
Only the largest loader worker is shown, and its memory includes pages shared with the others.

Catalogue: M4, host memory pressure.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.diagnosis.analysis.statistics import average, highest, margin_above
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.wording import count, percent, size
from tracker.diagnosis.signals import Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    pressure_share: float = 0.10
    pressure_release_share: float = 0.07
    critical_pressure_share: float = 0.30
    swap_bytes_per_second: int = 1_000_000
    full_share: float = 0.95
    full_release_share: float = 0.92
    shared_full_share: float = 0.90
    shared_release_share: float = 0.85
    # Share of the job's memory in one process from which on it is mentioned.
    notable_worker_share: float = 0.25


@dataclass(frozen=True, slots=True)
class _Sign:
    text: str
    evidence: Evidence
    quality: float
    is_full: bool = False
    is_of_shared_memory: bool = False

    @property
    def excess(self) -> float:
        limit = self.evidence.limit
        return self.evidence.value / limit if limit else 1.0


def check(
    job_memory_bytes: Samples,
    *,
    memory_pressure_share: Samples | None = None,
    host_swap_in_bytes_per_second: Samples | None = None,
    cgroup_memory_used_bytes: Samples | None = None,
    cgroup_page_cache_bytes: Samples | None = None,
    cgroup_memory_limit_hits: Samples | None = None,
    cgroup_oom_kills: Samples | None = None,
    memory_limit_bytes: float | None = None,
    shared_memory_used_share: Samples | None = None,
    shared_memory_total_bytes: float | None = None,
    loader_workers: float | None = None,
    worker_memory_bytes_max: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    signs = [
        sign
        for sign in (
            _pressure(memory_pressure_share, already_open=already_open, limits=limits),
            _swap(host_swap_in_bytes_per_second, limits),
            _limit(
                cgroup_memory_used_bytes,
                cgroup_page_cache_bytes,
                memory_limit_bytes,
                already_open=already_open,
                limits=limits,
            ),
            _shared(
                shared_memory_used_share,
                shared_memory_total_bytes,
                already_open=already_open,
                limits=limits,
            ),
        )
        if sign
    ]
    if not signs:
        return None
    return _finding(
        signs,
        highest(job_memory_bytes),
        kills=highest(cgroup_oom_kills) if cgroup_oom_kills else 0.0,
        hits=highest(cgroup_memory_limit_hits) if cgroup_memory_limit_hits else 0.0,
        loader_workers=loader_workers,
        of_a_worker=highest(worker_memory_bytes_max)
        if worker_memory_bytes_max
        else 0.0,
        limits=limits,
    )


def _finding(
    signs: list[_Sign],
    used: float,
    *,
    kills: float,
    hits: float,
    loader_workers: float | None,
    of_a_worker: float,
    limits: Limits,
) -> Finding:
    worst = max(signs, key=lambda sign: sign.excess)
    is_critical = kills > 0 or any(
        sign.evidence.signal == "memory_pressure_share"
        and sign.evidence.value >= limits.critical_pressure_share
        for sign in signs
    )
    parts = [sign.text for sign in signs]
    if kills > 0:
        parts.append(f"The kernel killed {count(kills, 'process', 'processes')}.")
    if of_a_worker >= limits.notable_worker_share * used > 0:
        parts.append(
            f"One child process, such as a loader worker, took {size(of_a_worker)} of the"
            f" {size(used)} of the job."
        )
    return Finding(
        title=(
            "Shared memory is full"
            if all(sign.is_of_shared_memory for sign in signs)
            else ""
        ),
        severity=Severity.CRITICAL if is_critical else Severity.WARNING,
        summary=" ".join(parts),
        evidence=(
            *(sign.evidence for sign in signs),
            Evidence("job_memory_bytes", "memory of the job, peak", used, "B"),
            *(
                (
                    Evidence(
                        "worker_memory_bytes_max",
                        "memory of the largest worker, peak",
                        of_a_worker,
                        "B",
                    ),
                )
                if of_a_worker
                else ()
            ),
        ),
        recommendations=_recommendations(signs, loader_workers),
        disproof=(
            "Run with half the loader workers: if pressure and use stay, the workers are not"
            " the cause."
        ),
        quality=worst.quality,
        # A value at the limit is certain already; a higher one is worse, not more certain.
        margin=max(
            0.8 if any(sign.is_full for sign in signs) else 0.5,
            margin_above(worst.excess, 1.0),
        ),
        corroboration=AGREEING if len(signs) > 1 or hits > 0 else ALONE,
    )


def _pressure(
    pressure: Samples | None, *, already_open: bool, limits: Limits
) -> _Sign | None:
    mean = average(pressure.values) if pressure else 0.0
    limit = limits.pressure_release_share if already_open else limits.pressure_share
    if pressure is None or not mean >= limit:
        return None
    return _Sign(
        f"Tasks wait for memory {percent(mean)} of the time.",
        Evidence(
            "memory_pressure_share",
            "time stalled on memory, mean",
            mean,
            "share",
            limits.pressure_share,
            Side.ABOVE,
            release=limits.pressure_release_share,
        ),
        pressure.quality,
    )


def _swap(swap: Samples | None, limits: Limits) -> _Sign | None:
    mean = average(swap.values) if swap else 0.0
    if swap is None or not mean > limits.swap_bytes_per_second:
        return None
    return _Sign(
        f"The job reads {size(mean)}/s back from swap.",
        Evidence(
            "host_swap_in_bytes_per_second",
            "swap-in rate, mean",
            mean,
            "B/s",
            limits.swap_bytes_per_second,
            Side.ABOVE,
        ),
        swap.quality,
    )


def _limit(
    used: Samples | None,
    cache: Samples | None,
    limit_bytes: float | None,
    *,
    already_open: bool,
    limits: Limits,
) -> _Sign | None:
    if used is None or limit_bytes is None or not limit_bytes > 0:
        return None
    # Active page cache counts as use, but the kernel can release it.
    most = highest(used) - (average(cache.values) if cache else 0.0)
    share = most / limit_bytes
    if not share >= (limits.full_release_share if already_open else limits.full_share):
        return None
    return _Sign(
        f"{size(most)} of the limit of {size(limit_bytes)} is in use"
        f" ({percent(share)}), without the page cache.",
        Evidence(
            "cgroup_memory_used_bytes",
            "memory without page cache, peak, share of the limit",
            share,
            "share",
            limits.full_share,
            Side.ABOVE,
            release=limits.full_release_share,
        ),
        used.quality,
        is_full=True,
    )


def _shared(
    used_share: Samples | None,
    total: float | None,
    *,
    already_open: bool,
    limits: Limits,
) -> _Sign | None:
    most = highest(used_share) if used_share else 0.0
    limit = limits.shared_release_share if already_open else limits.shared_full_share
    if used_share is None or not most >= limit:
        return None
    of = f" ({size(total)})" if total else ""
    return _Sign(
        f"Shared memory{of} was {percent(most)} full.",
        Evidence(
            "shared_memory_used_share",
            "shared memory in use, peak",
            most,
            "share",
            limits.shared_full_share,
            Side.ABOVE,
            release=limits.shared_release_share,
        ),
        used_share.quality,
        is_full=True,
        is_of_shared_memory=True,
    )


def _recommendations(
    signs: list[_Sign], loader_workers: float | None
) -> tuple[Recommendation, ...]:
    fewer = Recommendation(
        "Use fewer loader workers, or a smaller prefetch queue for each: every worker"
        " holds its own batches.",
        current=f"{loader_workers:g} workers" if loader_workers else "",
        suggested=f"{loader_workers // 2:g} workers" if loader_workers else "",
        code="DataLoader(dataset, num_workers=…, prefetch_factor=1)",
    )
    shared = Recommendation(
        "Give the container more shared memory.",
        code="docker run --shm-size=16g",
    )
    others = (
        Recommendation(
            "Read the data from memory-mapped files instead of loading all of it into"
            " each process.",
            code='numpy.load(path, mmap_mode="r")',
        ),
        Recommendation(
            "Request more memory for the job if it needs all of its memory."
        ),
    )
    if all(sign.is_of_shared_memory for sign in signs):
        return (shared, fewer)
    is_shared = any(sign.is_of_shared_memory for sign in signs)
    return (fewer, *((shared,) if is_shared else ()), *others)
