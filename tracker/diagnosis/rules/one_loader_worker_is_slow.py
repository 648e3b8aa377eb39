"""One data-loader worker is slow.

## Detection
Steps that wait for data in a fixed rhythm, because the batches of one loader worker are late.
One worker must also compute, or read from storage, at least twice as much as the others on
average.

## Why it matters
Batches are used in order, so each round takes as long as the slowest worker needs for one
batch. A longer queue fills up with batches of the other workers and does not help.

## Limitations
Workers are numbered by the order of their batches, as in PyTorch. If workers take the next
free batch instead, no rhythm shows the slow one.
A worker that waits for the network, and neither computes nor reads, looks like the others.

Catalogue: D14, worker imbalance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import average_or_none, margin_above
from tracker.diagnosis.engine.finding import (
    AGREEING,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Side,
)
from tracker.diagnosis.engine.speedup import Floor
from tracker.diagnosis.engine.wording import cores, count, duration, percent, size
from tracker.diagnosis.input.waiting import (
    NOTABLE_SHARE,
    Waiting,
    measure_notable_waiting,
)
from tracker.diagnosis.signals import Array, Samples


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    notable_share: float = NOTABLE_SHARE

    # Ratio to the mean of the other workers.
    min_ratio: float = 2.0
    release_ratio: float = 1.6
    # Smaller values are too low for a comparison.
    min_cores: float = 0.30
    min_bytes_per_second: float = 1_000_000.0
    # Share of all waiting in the batches of one worker.
    rhythm_share: float = 0.80
    # The worker is late in this share of the rounds, by this share of its longest waits.
    rounds_share: float = 0.80
    late_share: float = 0.20

    fewest_workers: int = 2
    fewest_rounds: int = 5

    critical_share: float = 0.20


@dataclass(frozen=True, slots=True)
class _Imbalance:
    signal: str
    most: float
    others: float  # mean
    limits: Limits

    @property
    def ratio(self) -> float:
        return self.most / self.others if self.others > 0 else self.limits.min_ratio * 2

    @property
    def words(self) -> str:
        if self.signal.startswith("worker_cpu"):
            return (
                f"One worker uses {cores(self.most)}, the others"
                f" {cores(self.others)} each"
            )
        return (
            f"One worker reads {size(self.most)}/s, the others"
            f" {size(self.others)}/s each"
        )


def check(
    step_seconds: Array,
    data_wait_seconds: Array,
    loader_workers: float,
    *,
    worker_cpu_cores: Samples | None = None,
    worker_cpu_cores_max: Samples | None = None,
    worker_read_bytes_per_second: Samples | None = None,
    worker_read_bytes_per_second_max: Samples | None = None,
    busiest_gpu_percent: Samples | None = None,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    workers = round(loader_workers)
    if workers < limits.fewest_workers:
        return None
    waiting = measure_notable_waiting(
        step_seconds,
        data_wait_seconds,
        busiest_gpu_percent,
        notable_share=limits.notable_share,
        already_open=already_open,
    )
    if waiting is None:
        return None
    if worker_cpu_cores is None or worker_cpu_cores_max is None:
        return Abstention(("worker_cpu_cores_max",))
    rhythm = _rhythm(data_wait_seconds, workers, limits)
    found = (
        _imbalance(
            "worker_cpu_cores_max",
            workers,
            worker_cpu_cores,
            worker_cpu_cores_max,
            limits,
        ),
        _imbalance(
            "worker_read_bytes_per_second_max",
            workers,
            worker_read_bytes_per_second,
            worker_read_bytes_per_second_max,
            limits,
        ),
    )
    limit = limits.release_ratio if already_open else limits.min_ratio
    worst = max(
        (each for each in found if each is not None and each.ratio >= limit),
        key=lambda each: each.ratio,
        default=None,
    )
    if worst is None or rhythm < limits.rhythm_share:
        return None
    return _finding(waiting, workers, worst, rhythm, limits)


def _rhythm(waits: Array, workers: int, limits: Limits) -> float:
    """Return one worker's share of the waiting; 0 if the series is too short.

    A worker that is late in only some rounds has costly batches and also gives 0.
    """
    rounds = len(waits) // workers
    if rounds < limits.fewest_rounds or not waits.sum() > 0:
        return 0.0
    of_workers = waits[: rounds * workers].reshape(rounds, workers)
    late = of_workers[:, of_workers.sum(axis=0).argmax()]
    is_late = late >= limits.late_share * float(np.percentile(late, 90))
    if float(is_late.mean()) < limits.rounds_share:
        return 0.0
    return float(late.sum() / of_workers.sum())


def _imbalance(
    signal: str,
    workers: int,
    mean: Samples | None,
    most: Samples | None,
    limits: Limits,
) -> _Imbalance | None:
    usual, highest = average_or_none(mean), average_or_none(most)
    least = (
        limits.min_cores
        if signal.startswith("worker_cpu")
        else limits.min_bytes_per_second
    )
    if usual is None or highest is None or highest < least:
        return None
    return _Imbalance(
        signal,
        highest,
        max(0.0, (usual * workers - highest) / (workers - 1)),
        limits=limits,
    )


def _finding(
    waiting: Waiting, workers: int, worst: _Imbalance, rhythm: float, limits: Limits
) -> Finding:
    rest = Floor(
        waiting.compute_seconds + waiting.exposed_seconds / worst.ratio,
        "the batches of the other workers",
    )
    return Finding(
        severity=waiting.severity(limits.critical_share),
        summary=(
            f"Every {count(workers, 'batch', 'batches')}, training waits for the same of"
            f" {workers} loader workers: {percent(rhythm)} of the waiting, which takes"
            f" {duration(waiting.exposed_seconds)} of each"
            f" {duration(waiting.step_seconds)} step. {worst.words}."
        ),
        evidence=_evidence(waiting, worst, rhythm, limits),
        recommendations=(
            Recommendation(
                "Inspect that worker: it may have a larger shard, larger examples, or data"
                " on a slower disk.",
                code="py-spy dump --pid <worker>",
            ),
            Recommendation(
                "Give all workers equal parts: shuffle shards by size, or let workers load"
                " single examples instead of whole shards."
            ),
        ),
        disproof=(
            "Swap the shards of two workers: if the late batches stay with the same worker"
            " number, the data is not the cause."
        ),
        gain=waiting.gain_without(rest),
        explains=(
            "batches-come-in-bursts",
            "data-wait-dominates",
            "too-few-loader-workers",
            "preprocessing-is-cpu-bound",
            "steps-are-slow-now-and-then",
            "host-memory-is-unused",
        ),
        quality=SAMPLED,
        margin=margin_above(worst.ratio, limits.min_ratio),
        corroboration=AGREEING,
    )


def _evidence(
    waiting: Waiting, worst: _Imbalance, rhythm: float, limits: Limits
) -> tuple[Evidence, ...]:
    is_cpu = worst.signal.startswith("worker_cpu")
    unit = "cores" if is_cpu else "B/s"
    return (
        Evidence(worst.signal, "busiest worker, mean", worst.most, unit),
        Evidence(worst.signal, "other workers, mean", worst.others, unit),
        Evidence(
            "data_wait_seconds",
            "waiting for one worker, share of all waiting",
            rhythm,
            "share",
            limits.rhythm_share,
            Side.ABOVE,
        ),
        waiting.evidence(limits.notable_share),
    )
