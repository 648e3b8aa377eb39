"""Data is read from storage instead of the page cache.

## Detection
Epochs over the same data. Cold cache: the first epoch reads three times as much from storage
as the later ones, and its steps take longer because they wait. Cache too small: later epochs
read much of the data from storage again, because it does not fit in memory.

## Why it matters
Data stays in memory after the first read while there is room, and further reads are free. With
a memory limit, this room is the memory that the job itself does not use.

## Limitations
Epochs are separated by the time between two loops; a loop over an endless stream has none.
The size of the data is estimated from the reads of an epoch. Reads of memory-mapped files are
not system calls: only their reads from storage count, and cache hits are not seen.
Data that workers send through pipes counts as read; the cache then looks better than it is.

Catalogue: D9, cold or too small cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.epochs import EPOCHS, find_epochs
from tracker.diagnosis.analysis.statistics import average, margin_above, margin_below
from tracker.diagnosis.engine.finding import (
    Abstention,
    Answer,
    Evidence,
    Finding,
    Gain,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.engine.rule import Span
from tracker.diagnosis.engine.speedup import Floor, expected_gain
from tracker.diagnosis.engine.wording import count, duration, percent, size
from tracker.diagnosis.input.code_lines import in_memory_line, shards_line
from tracker.diagnosis.input.epoch_reads import EpochReads, measure_epoch_reads
from tracker.diagnosis.input.waiting import Waiting, measure_waiting
from tracker.diagnosis.signals import Array, Samples

SPAN = Span.STAGE


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    # Ratio of the first epoch to the later ones: bytes read, and step time.
    cold_reads: float = 3.0
    cold_steps: float = 1.2
    # Waits must explain this part of the longer steps, because the first epoch also
    # compiles.
    waiting_part: float = 0.50
    # Below this share, a cold epoch among many is not reported.
    notable_share: float = 0.02
    warning_share: float = 0.05
    critical_share: float = 0.20

    # Share of reads served by the cache.
    largest_hit_share: float = 0.80
    # Maximum difference between the shares of later epochs.
    flat_within: float = 0.10
    data_of_memory: float = 0.90
    # A job that reads less has its data in memory or elsewhere.
    min_read_bytes_per_second: float = 1_000_000.0


def check(
    step_seconds: Array,
    step_end_seconds: Array,
    gap_before_step_seconds: Array,
    data_wait_seconds: Array,
    job_read_bytes_per_second: Samples,
    *,
    job_requested_bytes_per_second: Samples | None = None,
    memory_limit_bytes: float | None = None,
    busiest_gpu_percent: Samples | None = None,
    framework: str | None = None,
    limits: Limits = Limits(),
) -> Answer:
    found = find_epochs(step_seconds, step_end_seconds, gap_before_step_seconds)
    waiting = measure_waiting(step_seconds, data_wait_seconds, busiest_gpu_percent)
    waits = waiting is not None and waiting.is_notable(already_open=False)
    epochs = measure_epoch_reads(
        found,
        step_seconds,
        data_wait_seconds,
        job_read_bytes_per_second,
        job_requested_bytes_per_second,
    )
    reads = (
        average(job_read_bytes_per_second.values) >= limits.min_read_bytes_per_second
    )
    if epochs is None:
        return Abstention((EPOCHS,)) if waits and reads else None

    quality = job_read_bytes_per_second.quality
    cold = _cold(epochs, quality, limits)
    if cold is not None or waiting is None or not waits or not reads:
        return cold
    if memory_limit_bytes is None or epochs.requested is None:
        return Abstention(("memory_limit_bytes", "job_requested_bytes_per_second"))
    return _too_small(
        epochs, waiting, memory_limit_bytes, quality, framework, limits=limits
    )


@dataclass(frozen=True, slots=True)
class _ColdStart:
    """The first epoch compared with the median of the later ones."""

    read: float  # bytes
    usual_read: float
    step_seconds: float
    usual_step_seconds: float
    wait_seconds: float
    usual_wait_seconds: float
    lost_seconds: float
    share: float  # of all epochs' time
    limits: Limits

    @property
    def is_cold(self) -> bool:
        longer = self.step_seconds - self.usual_step_seconds
        waits_longer = self.wait_seconds - self.usual_wait_seconds
        return (
            self.read > 0
            and self.read >= self.limits.cold_reads * self.usual_read
            and self.step_seconds >= self.limits.cold_steps * self.usual_step_seconds
            and waits_longer >= self.limits.waiting_part * longer
            and self.share >= self.limits.notable_share
        )


def _cold(epochs: EpochReads, quality: float, limits: Limits) -> Finding | None:
    usual = float(np.median(epochs.step_seconds[1:]))
    lost = (float(epochs.step_seconds[0]) - usual) * epochs.steps
    start = _ColdStart(
        read=float(epochs.read[0]),
        usual_read=float(np.median(epochs.read[1:])),
        step_seconds=float(epochs.step_seconds[0]),
        usual_step_seconds=usual,
        wait_seconds=float(epochs.wait_seconds[0]),
        usual_wait_seconds=float(np.median(epochs.wait_seconds[1:])),
        lost_seconds=lost,
        share=lost / epochs.total_seconds,
        limits=limits,
    )
    return (
        _cold_finding(start, epochs.total_seconds, quality, limits)
        if start.is_cold
        else None
    )


def _cold_finding(
    start: _ColdStart, total_seconds: float, quality: float, limits: Limits
) -> Finding:
    usual, lost = start.usual_step_seconds, start.lost_seconds
    return Finding(
        title="The first epoch reads from a cold page cache",
        severity=_severity(start.share, limits),
        summary=(
            f"The first epoch read {size(start.read)} from storage, later ones"
            f" {size(start.usual_read)}. Its steps took"
            f" {duration(start.step_seconds)} instead of {duration(usual)},"
            f" {duration(lost)} in total."
        ),
        evidence=(
            Evidence(
                "job_read_bytes_per_second",
                "data read in the first epoch",
                start.read,
                "B",
                limits.cold_reads * start.usual_read,
                Side.ABOVE,
            ),
            Evidence(
                "step_seconds",
                "step time in the first epoch, mean",
                start.step_seconds,
                "s",
                limits.cold_steps * usual,
                Side.ABOVE,
            ),
            Evidence(
                "data_wait_seconds",
                "waiting for data in the first epoch, mean per step",
                start.wait_seconds,
                "s",
            ),
        ),
        recommendations=(
            Recommendation(
                "Read the data once, in order, before training begins: that is faster"
                " than the random order of training.",
                code="cat /path/to/data/* > /dev/null",
            ),
            Recommendation(
                "Store the data in fewer bytes, or give each machine a part of it."
            ),
        ),
        disproof=(
            "Restart the run immediately: if its first epoch is as slow with the data in"
            " memory, something else is slow at the start."
        ),
        gain=expected_gain(
            total_seconds,
            (Floor(total_seconds - lost, "the later epochs"),),
            what="Training",
        ),
        explains=(
            "local-storage-is-at-its-limit",
            "reads-are-small",
            "remote-storage-is-the-limit",
            "host-memory-is-unused",
        ),
        quality=quality,
        margin=margin_above(start.step_seconds / usual, limits.cold_steps),
    )


def _severity(share: float, limits: Limits) -> Severity:
    if share >= limits.critical_share:
        return Severity.CRITICAL
    return Severity.WARNING if share >= limits.warning_share else Severity.NOTICE


def _too_small(
    epochs: EpochReads,
    waiting: Waiting,
    memory: float,
    quality: float,
    framework: str | None,
    *,
    limits: Limits,
) -> Finding | None:
    requested = epochs.requested
    if requested is None or not np.all(requested[1:] > 0):
        return None
    hits = np.clip(1.0 - epochs.read[1:] / requested[1:], 0.0, 1.0)
    hit = float(hits.mean())
    is_flat = float(np.ptp(hits)) <= limits.flat_within
    data = epochs.data_bytes
    if not (
        is_flat
        and hit < limits.largest_hit_share
        and data > limits.data_of_memory * memory
    ):
        return None
    return _too_small_finding(
        waiting,
        data=data,
        memory=memory,
        hit=hit,
        behind=_behind(len(hits)),
        quality=quality,
        recommendations=_smaller_data(data, memory, framework, limits),
        limits=limits,
    )


def _too_small_finding(
    waiting: Waiting,
    *,
    data: float,
    memory: float,
    hit: float,
    behind: str,
    quality: float,
    recommendations: tuple[Recommendation, ...],
    limits: Limits,
) -> Finding:
    return Finding(
        title="The data does not fit in the page cache",
        severity=_severity(waiting.exposed_share, limits),
        summary=(
            f"Each epoch reads {size(data)} with {size(memory)} of memory, and"
            f" {percent(1 - hit)} of the bytes come from storage. Steps wait"
            f" {percent(waiting.exposed_share)} of their time for data."
        ),
        evidence=(
            Evidence(
                "job_requested_bytes_per_second",
                "data read per epoch, including the page cache",
                data,
                "B",
                limits.data_of_memory * memory,
                Side.ABOVE,
            ),
            Evidence(
                "job_read_bytes_per_second",
                f"reads served by the page cache, share, mean of {behind}",
                hit,
                "share",
                limits.largest_hit_share,
                Side.BELOW,
            ),
            waiting.evidence(),
        ),
        recommendations=recommendations,
        disproof=(
            "Train on a part of the data that fits into memory: if steps wait as long in"
            " its second epoch, the cache size is not the limit."
        ),
        gain=_gain(waiting, hit),
        explains=(
            "local-storage-is-at-its-limit",
            "reads-are-small",
            "remote-storage-is-the-limit",
            "host-memory-is-unused",
            "batches-come-in-bursts",
            "data-wait-dominates",
        ),
        quality=quality,
        margin=margin_below(hit, limits.largest_hit_share),
    )


def _smaller_data(
    data: float, memory: float, framework: str | None, limits: Limits
) -> tuple[Recommendation, ...]:
    return (
        Recommendation(
            "Store the data in fewer bytes: resized, compressed, with fewer bits.",
            current=size(data),
            suggested=f"below {size(limits.data_of_memory * memory)}",
            code=shards_line(framework),
        ),
        Recommendation(
            "Raise the container's memory limit: its page cache counts against it.",
            current=size(memory),
            suggested=f"more than {size(data)}",
        ),
        Recommendation(
            "On several machines, give each a part of the data that fits in its"
            " memory.",
            code=in_memory_line(framework),
        ),
    )


def _behind(epochs: int) -> str:
    return f"{count(epochs, 'epoch', 'epochs')} after the first"


def _gain(waiting: Waiting, hit: float) -> Gain:
    served = waiting.step_seconds * (1.0 - waiting.exposed_share * (1.0 - hit))
    floors = (
        waiting.own_work,
        Floor(served, "the part of the data that is already in memory"),
    )
    return expected_gain(waiting.step_seconds, floors)
