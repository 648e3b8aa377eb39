"""Host memory keeps growing.

## Detection
Resident memory of all processes of the job that rises for at least ten minutes without a
fall: by 1 % per minute, or so fast that the limit is reached within the time the stage has
already run. In a shorter stage: memory that rises steadily for at least half a minute and a
hundred steps. Memory allocated before the first step does not count as growth.

## Why it matters
The kernel ends the job at the limit, often at night. Before that the page cache shrinks, and
the data has to be read again.

## Limitations
Memory-mapped files count as resident after a read, although the kernel can release them. If
the memory use of the container does not grow as well, the finding is less certain.
Shared memory counts once for each process.
A cache stops growing when it is full. In a short stage it is still filling and looks the same
as a leak.

Catalogue: M5, host memory leak.
"""

from __future__ import annotations

from tracker.diagnosis.analysis.growth import (
    BLOCKS,
    Growth,
    is_linear,
    since,
    steady_growth,
)
from tracker.diagnosis.analysis.statistics import margin_above
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
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.wording import duration, size, small_percent
from tracker.diagnosis.signals import Array, Samples

SPAN = Span.STAGE

GROWTH_SHARE_PER_MINUTE = 0.01
GROWTH_RELEASE_SHARE_PER_MINUTE = 0.007
FEWEST_SECONDS = 600.0
# For shorter stages with steps, in which memory must rise steadily.
FEWEST_SECONDS_OF_STEPS = 15.0
FEWEST_STEPS = 100
FEWEST_SECONDS_OF_GROWTH = 12.0
FEWEST_BLOCKS = 10
NOTABLE_SHORT_GROWTH_BYTES = 128 * 1024 * 1024
SHORT_GROWTH_SHARE = 0.20  # of the memory at the start
# In small processes, a small growth is a large share.
NOTABLE_GROWTH_BYTES = 256 * 1024 * 1024

# The container's memory must grow by at least this part of the growth, if it is known.
AGREEING_SHARE = 0.50
# With several growing workers, each has only a part of the growth.
IN_WORKER_SHARE = 0.05


def check(
    job_memory_bytes: Samples,
    *,
    memory_limit_bytes: float | None = None,
    cgroup_memory_used_bytes: Samples | None = None,
    loader_workers: float | None = None,
    worker_memory_bytes_max: Samples | None = None,
    step_end_seconds: Array | None = None,
    already_open: bool = False,
) -> Answer:
    memory = job_memory_bytes
    if step_end_seconds is not None and len(step_end_seconds):
        memory = since(memory, float(step_end_seconds[0]))
    times = memory.times
    seconds = float(times[-1] - times[0]) / 1e6 if len(times) else 0.0
    is_short = seconds < FEWEST_SECONDS
    steps = 0 if step_end_seconds is None else len(step_end_seconds)
    if is_short and (seconds < FEWEST_SECONDS_OF_STEPS or steps < FEWEST_STEPS):
        return Abstention((f"readings over at least {duration(FEWEST_SECONDS)}",))
    if is_short and not is_linear(memory, FEWEST_BLOCKS):
        return None
    growth = steady_growth(
        memory,
        fewest_seconds=FEWEST_SECONDS_OF_GROWTH,
        blocks=FEWEST_BLOCKS if is_short else BLOCKS,
    )
    least = NOTABLE_SHORT_GROWTH_BYTES if is_short else NOTABLE_GROWTH_BYTES
    if growth is None or not growth.total >= least:
        return None

    first = growth.last - growth.total
    pace = growth.per_second * 60 / max(first, 1.0)
    left = (
        growth.seconds_until(memory_limit_bytes)
        if memory_limit_bytes is not None and memory_limit_bytes > 0
        else None
    )
    if is_short and growth.total < SHORT_GROWTH_SHARE * first:
        return None
    fills_soon = left is not None and left <= growth.seconds
    limit = GROWTH_RELEASE_SHARE_PER_MINUTE if already_open else GROWTH_SHARE_PER_MINUTE
    if pace < limit and not fills_soon:
        return None

    in_worker = (
        steady_growth(worker_memory_bytes_max) if worker_memory_bytes_max else None
    )
    until = f" At this rate it reaches the limit in {duration(left)}." if left else ""
    return Finding(
        severity=_severity(fills_soon=fills_soon, is_short=is_short),
        summary=(
            f"The memory of the job grew from {size(first)} to"
            f" {size(growth.last)} in {duration(growth.seconds)}, by"
            f" {small_percent(pace)} per"
            f" minute.{until}{_where(growth, worker_memory_bytes_max, in_worker)}"
        ),
        evidence=_evidence(growth, pace, left, in_worker),
        recommendations=_recommendations(loader_workers),
        disproof=(
            "Watch it for as long again: if it levels off, a full cache is the cause and"
            " nothing leaks."
        ),
        explains=("host-memory-is-short",),
        quality=min(job_memory_bytes.quality, COARSE if is_short else 1.0),
        margin=(
            max(0.8, margin_above(pace, GROWTH_SHARE_PER_MINUTE))
            if fills_soon
            else margin_above(pace, GROWTH_SHARE_PER_MINUTE)
        ),
        # In such a short time, other processes of the container hide the growth of the job.
        corroboration=(
            ALONE if is_short else _corroboration(growth, cgroup_memory_used_bytes)
        ),
    )


def _severity(*, fills_soon: bool, is_short: bool) -> Severity:
    if fills_soon:
        return Severity.CRITICAL
    return Severity.NOTICE if is_short else Severity.WARNING


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
    """Return a sentence about the process that grows; empty if it is unknown."""
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
            "Keep lists of the dataset, such as names and labels, in arrays: each"
            " worker that reads a Python list copies it page by page.",
            code="self.names = numpy.array(names)",
        ),
        Recommendation(
            "Restart the loader workers after each epoch.",
            current=f"{loader_workers:g} workers" if loader_workers else "",
            code="DataLoader(dataset, persistent_workers=False)",
        ),
    )
    return (
        *(() if loader_workers == 0 else in_workers),
        Recommendation(
            "Look for collections that are never cleared: predictions, logs, caches."
        ),
        Recommendation(
            "Compare two snapshots of Python's allocations.",
            code="tracemalloc.start()",
        ),
    )
