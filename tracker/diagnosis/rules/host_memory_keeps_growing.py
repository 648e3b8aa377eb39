"""Host memory keeps growing.

## Detection
Resident memory of all processes of the job that rises for at least ten minutes without a
fall: by 1 % per minute, or so fast that the limit is reached within the time the stage has
already run. In a shorter stage: memory that rises steadily for at least half a minute and a
hundred steps, or a minute and fifty steps. Memory allocated before the first step does not
count as growth.

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

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    blocks: int = BLOCKS

    growth_share_per_minute: float = 0.01
    growth_release_share_per_minute: float = 0.007
    fewest_seconds: float = 600.0
    # For shorter stages with steps, in which memory must rise steadily.
    fewest_seconds_of_steps: float = 15.0
    fewest_steps: int = 100
    long_seconds: float = 60.0
    fewest_steps_if_long: int = 50
    fewest_seconds_of_growth: float = 12.0
    fewest_blocks: int = 10
    notable_short_growth_bytes: int = 128 * 1024 * 1024
    short_growth_share: float = 0.20  # of the memory at the start
    # In small processes, a small growth is a large share.
    notable_growth_bytes: int = 256 * 1024 * 1024

    # The container's memory must grow by at least this part of the growth, if it is
    # known.
    agreeing_share: float = 0.50
    # With several growing workers, each has only a part of the growth.
    in_worker_share: float = 0.05


def check(
    job_memory_bytes: Samples,
    *,
    memory_limit_bytes: float | None = None,
    cgroup_memory_used_bytes: Samples | None = None,
    loader_workers: float | None = None,
    worker_memory_bytes_max: Samples | None = None,
    step_end_seconds: Array | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    memory = job_memory_bytes
    if step_end_seconds is not None and len(step_end_seconds):
        memory = since(memory, float(step_end_seconds[0]))
    times = memory.times
    seconds = float(times[-1] - times[0]) / 1e6 if len(times) else 0.0
    is_short = seconds < limits.fewest_seconds
    steps = 0 if step_end_seconds is None else len(step_end_seconds)
    is_long = seconds >= limits.long_seconds
    if is_short and (
        seconds < limits.fewest_seconds_of_steps
        or steps < (limits.fewest_steps_if_long if is_long else limits.fewest_steps)
    ):
        return Abstention((f"samples over at least {duration(limits.fewest_seconds)}",))
    if is_short and not is_linear(memory, limits.fewest_blocks):
        return None
    growth = steady_growth(
        memory,
        fewest_seconds=limits.fewest_seconds_of_growth,
        blocks=limits.fewest_blocks if is_short else limits.blocks,
    )
    least = (
        limits.notable_short_growth_bytes if is_short else limits.notable_growth_bytes
    )
    if growth is None or not growth.total >= least:
        return None

    first = growth.last - growth.total
    pace = growth.per_second * 60 / max(first, 1.0)
    left = (
        growth.seconds_until(memory_limit_bytes)
        if memory_limit_bytes is not None and memory_limit_bytes > 0
        else None
    )
    if is_short and growth.total < limits.short_growth_share * first:
        return None
    fills_soon = left is not None and left <= growth.seconds
    limit = (
        limits.growth_release_share_per_minute
        if already_open
        else limits.growth_share_per_minute
    )
    if pace < limit and not fills_soon:
        return None

    in_worker = (
        steady_growth(worker_memory_bytes_max, blocks=limits.blocks)
        if worker_memory_bytes_max
        else None
    )
    until = f" At this rate it reaches the limit in {duration(left)}." if left else ""
    where = _where(growth, worker_memory_bytes_max, in_worker, limits)
    return Finding(
        severity=_severity(fills_soon=fills_soon, is_short=is_short),
        summary=(
            f"The memory of the job grew from {size(first)} to"
            f" {size(growth.last)} in {duration(growth.seconds)}, by"
            f" {small_percent(pace)} per"
            f" minute.{until}{where}"
        ),
        evidence=_evidence(growth, pace, left, in_worker, limits),
        recommendations=_recommendations(loader_workers),
        disproof=(
            "Watch it for as long again: if it levels off, a full cache is the cause and"
            " nothing leaks."
        ),
        explains=("host-memory-is-short",),
        quality=min(job_memory_bytes.quality, COARSE if is_short else 1.0),
        margin=(
            max(0.8, margin_above(pace, limits.growth_share_per_minute))
            if fills_soon
            else margin_above(pace, limits.growth_share_per_minute)
        ),
        # In such a short time, other processes of the container hide the growth of the job.
        corroboration=(
            ALONE
            if is_short
            else _corroboration(growth, cgroup_memory_used_bytes, limits)
        ),
    )


def _severity(*, fills_soon: bool, is_short: bool) -> Severity:
    if fills_soon:
        return Severity.CRITICAL
    return Severity.NOTICE if is_short else Severity.WARNING


def _evidence(
    growth: Growth,
    pace: float,
    left: float | None,
    in_worker: Growth | None,
    limits: Limits,
) -> tuple[Evidence, ...]:
    job, worker = "job_memory_bytes", "worker_memory_bytes_max"
    evidence = [
        Evidence(
            job,
            "growth per minute, share of the first sample",
            pace,
            "share",
            limits.growth_share_per_minute,
            Side.ABOVE,
            release=limits.growth_release_share_per_minute,
        ),
        Evidence(job, "growth of memory", growth.total, "B"),
    ]
    if left is not None:
        evidence.append(Evidence(job, "time until memory is full", left, "s"))
    if in_worker is not None:
        evidence.append(Evidence(worker, "growth of memory", in_worker.total, "B"))
    return tuple(evidence)


def _where(
    growth: Growth, worker: Samples | None, in_worker: Growth | None, limits: Limits
) -> str:
    """Return a sentence about the process that grows; empty if it is unknown."""
    if worker is None:
        return ""
    if (
        in_worker is not None
        and in_worker.total >= limits.in_worker_share * growth.total
    ):
        return (
            " It grows in the loader workers: the largest of them by"
            f" {size(in_worker.total)}."
        )
    return " It does not grow in the loader workers." if in_worker is None else ""


def _corroboration(growth: Growth, container: Samples | None, limits: Limits) -> float:
    if container is None:
        return ALONE
    also = steady_growth(container, blocks=limits.blocks)
    agrees = also is not None and also.total >= limits.agreeing_share * growth.total
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
