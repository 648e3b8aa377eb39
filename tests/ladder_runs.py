"""Runs like those of a ladder: timed steps, hardware, facts, parameters, quality."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tests.builders import (
    SECOND,
    START,
    Message,
    Process,
    close_message,
    points_message,
    set_message,
)
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.models import Project, Run
from tracker.series.compaction import compact_run


@dataclass(frozen=True)
class Job:
    """One run of the job; seconds are per step."""

    name: str
    wait_seconds: float = 0.060
    work_seconds: float = 0.030
    batch_size: int = 16
    steps: int = 300
    workers: int = 0
    cpu_cores: float = 1.0
    accuracy: float | None = 0.95
    loss: float = 0.2  # that it ends at
    counts_examples: bool = True
    host: str = "node-1"
    params: dict[str, object] = field(default_factory=dict)


DEMO = (
    Job("baseline", params={"decoded_ahead": False}),
    Job("decoded", wait_seconds=0.012, accuracy=0.951, params={"decoded_ahead": True}),
    Job(
        "workers",
        wait_seconds=0.001,
        workers=2,
        cpu_cores=1.5,
        accuracy=0.949,
        params={"decoded_ahead": True},
    ),
    Job(
        "batch-64",
        wait_seconds=0.004,
        work_seconds=0.110,
        batch_size=64,
        workers=2,
        cpu_cores=1.5,
        accuracy=0.957,
        params={"decoded_ahead": True},
    ),
)
NOTES = ("", "decoded ahead", "several loader processes", "larger batch")


def make_measured_run(project: Project, job: Job, *, is_live: bool = False) -> Run:
    """Log a job's training stage, compact it and diagnose it."""
    process = log_job(project, job)
    if not is_live:
        process.send([close_message(time=_end(job))])
    settle(process.run)
    return Run.objects.get(id=process.run.id)


def log_job(project: Project, job: Job) -> Process:
    """Log all data of a job from a separate process that stays open."""
    process = Process(project, job.name, stage="train")
    process.open()
    process.send(_facts(job), _steps(job), _hardware(job))
    return process


def settle(run: Run) -> None:
    """Run the work of background workers for new points."""
    compact_run(run.id)
    diagnose_run(run.id)


def _end(job: Job) -> int:
    return START + int((job.wait_seconds + job.work_seconds) * job.steps * SECOND)


def _facts(job: Job) -> list[Message]:
    facts = {
        "facts/effective_cores": 2.0,
        "facts/host": job.host,
        "facts/gpu_count": 0,
        "facts/loader_workers": job.workers,
        "facts/framework": "plain",
    }
    if job.counts_examples:
        facts["facts/batch_size"] = job.batch_size
    params = {"batch_size": job.batch_size, "workers": job.workers, **job.params}
    values = {
        **{f"monitoring/train/{path}": value for path, value in facts.items()},
        **{f"params/{name}": value for name, value in params.items()},
    }
    if job.accuracy is not None:
        values["train/accuracy_on_test"] = job.accuracy
    return [set_message(path, value) for path, value in values.items()]


def _steps(job: Job) -> list[Message]:
    random = np.random.default_rng(len(job.name))
    waits = job.wait_seconds * random.normal(1, 0.03, job.steps)
    forward = 0.4 * job.work_seconds * random.normal(1, 0.03, job.steps)
    backward = 0.5 * job.work_seconds * random.normal(1, 0.03, job.steps)
    seconds = waits + forward + backward + 0.1 * job.work_seconds
    times = START + (np.cumsum(seconds) * SECOND).astype(np.int64)
    columns = {
        "monitoring/train/step/seconds": seconds,
        "monitoring/train/step/data_wait_seconds": waits,
        "monitoring/train/step/phase/forward_seconds": forward,
        "monitoring/train/step/phase/backward_seconds": backward,
        "train/loss": job.loss + 2 * np.exp(-np.arange(job.steps) / 90),
    }
    if job.counts_examples:
        columns["monitoring/train/step/examples"] = np.full(job.steps, job.batch_size)
    return [
        points_message(path, column, times=times) for path, column in columns.items()
    ]


def _hardware(job: Job) -> list[Message]:
    count = max(2, int((_end(job) - START) / SECOND))
    times = START + np.arange(1, count + 1) * SECOND
    readings = {
        "job/cpu_cores": job.cpu_cores,
        "job/main_cpu_cores": min(1.0, job.cpu_cores),
        "job/workers": job.workers,
        "job/worker_cpu_cores": 0.3 if job.workers else 0.0,
    }
    return [
        points_message(f"monitoring/train/{path}", np.full(count, value), times=times)
        for path, value in readings.items()
    ]
