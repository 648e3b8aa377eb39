"""Writes the measurements of an agent through the real ingest path."""

from __future__ import annotations

import numpy as np

from tests.builders import (
    SECOND,
    START,
    make_member,
    make_project,
    make_run,
    points_message,
    set_message,
    write,
)
from tracker.models import Run, State


def measured_run(name: str = "baseline", *, state: str = State.FINISHED, **loop) -> Run:
    """A run whose training process decodes the data itself by default."""
    member = make_member(name=f"owner-of-{name}")
    run = make_run(make_project(member), name, state=State.RUNNING)
    measure_loop(run, **loop)
    finish(run, state)
    return run


def finish(run: Run, state: str = State.FINISHED) -> None:
    run.stages.update(state=state)
    Run.objects.filter(id=run.id).update(state=state)
    run.refresh_from_db()


def measure_loop(
    run: Run,
    *,
    stage: str = "train",
    count: int = 400,
    step_seconds: float = 0.1,
    wait_share: float = 0.6,
    workers: int = 0,
    cpu_cores: float = 1.0,
    effective_cores: float = 4.0,
    examples: float = 16.0,
    first_step: int = 0,
) -> None:
    """Log consecutive steps, and a CPU sample each second."""
    begin = START + int(first_step * step_seconds * SECOND)
    ends = begin + (np.arange(1, count + 1) * step_seconds * SECOND).astype(np.int64)
    ticks = begin + np.arange(1, int(count * step_seconds) + 1) * SECOND
    prefix = f"monitoring/{stage}"

    per_step = {
        "step/seconds": step_seconds,
        "step/data_wait_seconds": wait_share * step_seconds,
        "step/phase/forward_seconds": 0.1 * step_seconds,
        "step/examples": examples,
    }
    readings = {
        "job/cpu_cores": cpu_cores,
        "job/main_cpu_cores": min(1.0, cpu_cores),
        "job/workers": workers,
    }
    numbers = np.arange(first_step, first_step + count)
    messages = [
        *(
            points_message(
                f"{prefix}/{path}", np.full(count, value), steps=numbers, times=ends
            )
            for path, value in per_step.items()
        ),
        *(
            points_message(
                f"{prefix}/{path}", np.full(len(ticks), float(value)), times=ticks
            )
            for path, value in readings.items()
        ),
        set_message(f"{prefix}/facts/effective_cores", effective_cores),
        set_message(f"{prefix}/facts/loader_workers", workers),
        set_message(f"{prefix}/facts/framework", "plain"),
        set_message(f"{prefix}/facts/gpu_count", 0),
    ]
    write(run, messages, stage=stage)
