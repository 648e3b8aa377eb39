"""Host memory keeps growing.

## What it looks for
Resident memory of all processes of the job that rises for at least ten minutes without
a fall: by 1 % a minute, or so that the limit is reached within the time the stage has
run already.

## Why it matters
The kernel ends the job when the limit is reached, often at night. Before that the page
cache shrinks, and the data have to be read again.

## When it is wrong
Memory-mapped files count as resident once they are read, and go as soon as memory is
needed. Where the container's own use does not grow along, the finding counts for less.
What processes share counts once for each of them.
A cache that fills up levels off by itself.

Catalogue: M5, host memory leak.
"""

from __future__ import annotations

from tracker.diagnosis.finding import (
    AGREEING,
    ALONE,
    CONTRADICTED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.growth import Growth, steady_growth
from tracker.diagnosis.rule import Span
from tracker.diagnosis.signals import Samples
from tracker.diagnosis.statistics import margin_above
from tracker.diagnosis.wording import duration, size, small_percent

SPAN = Span.STAGE

GROWTH_SHARE_PER_MINUTE = 0.01
GROWTH_RELEASE_SHARE_PER_MINUTE = 0.007
FEWEST_SECONDS = 600.0
# Small processes grow by large parts of little.
NOTABLE_GROWTH_BYTES = 256 * 1024 * 1024

# The container's use has to grow by this part of it, if it is known.
AGREEING_SHARE = 0.50
# Of several workers that grow alike, each has a part.
IN_WORKER_SHARE = 0.05


def check(
    job_memory_bytes: Samples,
    *,
    memory_limit_bytes: float | None = None,
    cgroup_memory_used_bytes: Samples | None = None,
    loader_workers: float | None = None,
    worker_memory_bytes_max: Samples | None = None,
    already_open: bool = False,
) -> Answer:
    times = job_memory_bytes.times
    if not len(times) or times[-1] - times[0] < FEWEST_SECONDS * 1e6:
        return Abstention((f"readings over at least {duration(FEWEST_SECONDS)}",))
    growth = steady_growth(job_memory_bytes)
    if growth is None or not growth.total >= NOTABLE_GROWTH_BYTES:
        return None

    first = growth.last - growth.total
    pace = growth.per_second * 60 / max(first, 1.0)
    left = (
        growth.seconds_until(memory_limit_bytes)
        if memory_limit_bytes is not None and memory_limit_bytes > 0
        else None
    )
    fills_soon = left is not None and left <= growth.seconds
    limit = GROWTH_RELEASE_SHARE_PER_MINUTE if already_open else GROWTH_SHARE_PER_MINUTE
    if pace < limit and not fills_soon:
        return None

    in_worker = (
        steady_growth(worker_memory_bytes_max) if worker_memory_bytes_max else None
    )
    until = f" At this rate it reaches the limit in {duration(left)}." if left else ""
    return Finding(
        severity=Severity.CRITICAL if fills_soon else Severity.WARNING,
        summary=(
            f"The memory of the job grew from {size(first)} to"
            f" {size(growth.last)} in {duration(growth.seconds)}, by"
            f" {small_percent(pace)} per"
            f" minute.{until}{_where(growth, worker_memory_bytes_max, in_worker)}"
        ),
        evidence=_evidence(growth, pace, left, in_worker),
        recommendations=_recommendations(loader_workers),
        disproof=(
            "Watch it for as long again: if it levels off, a cache has filled and"
            " nothing leaks."
        ),
        explains=("host-memory-is-short",),
        quality=job_memory_bytes.quality,
        margin=(
            max(0.8, margin_above(pace, GROWTH_SHARE_PER_MINUTE))
            if fills_soon
            else margin_above(pace, GROWTH_SHARE_PER_MINUTE)
        ),
        corroboration=_corroboration(growth, cgroup_memory_used_bytes),
    )


def _evidence(
    growth: Growth, pace: float, left: float | None, in_worker: Growth | None
) -> tuple[Evidence, ...]:
    job, worker = "job_memory_bytes", "worker_memory_bytes_max"
    evidence = [
        Evidence(
            job,
            "growth per minute, share of the first sample",
            pace,
            "share",
            GROWTH_SHARE_PER_MINUTE,
            Side.ABOVE,
            release=GROWTH_RELEASE_SHARE_PER_MINUTE,
        ),
        Evidence(job, "growth of memory", growth.total, "B"),
    ]
    if left is not None:
        evidence.append(Evidence(job, "time until memory is full", left, "s"))
    if in_worker is not None:
        evidence.append(Evidence(worker, "growth of memory", in_worker.total, "B"))
    return tuple(evidence)


def _where(growth: Growth, worker: Samples | None, in_worker: Growth | None) -> str:
    """Say which process grows, where that is known."""
    if worker is None:
        return ""
    if in_worker is not None and in_worker.total >= IN_WORKER_SHARE * growth.total:
        return (
            " It grows in the loader workers: the largest of them by"
            f" {size(in_worker.total)}."
        )
    return " It does not grow in the loader workers." if in_worker is None else ""


def _corroboration(growth: Growth, container: Samples | None) -> float:
    if container is None:
        return ALONE
    also = steady_growth(container)
    agrees = also is not None and also.total >= AGREEING_SHARE * growth.total
    return AGREEING if agrees else CONTRADICTED


def _recommendations(loader_workers: float | None) -> tuple[Recommendation, ...]:
    in_workers = (
        Recommendation(
            "Keep what the dataset lists, such as names and labels, in arrays: each"
            " worker that looks at a Python list copies it bit by bit.",
            code="self.names = numpy.array(names)",
        ),
        Recommendation(
            "Start the loader workers anew after each epoch.",
            current=f"{loader_workers:g} workers" if loader_workers else "",
            code="DataLoader(dataset, persistent_workers=False)",
        ),
    )
    return (
        *(() if loader_workers == 0 else in_workers),
        Recommendation(
            "Look for what is collected and never emptied: predictions, logs, caches."
        ),
        Recommendation(
            "Compare two snapshots of what Python has allocated.",
            code="tracemalloc.start()",
        ),
    )
