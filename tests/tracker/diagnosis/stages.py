"""Makes stages as the agent would have measured them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tracker.diagnosis.engine import Diagnosis
from tracker.diagnosis.judgement import Judgement
from tracker.diagnosis.measurements import Measurements, Steps
from tracker.diagnosis.signals import Fact, Samples

START = 1_767_355_200_000_000
SECOND = 1_000_000
GIB = 1024**3


def readings(value: float, *, seconds: int = 30) -> Samples:
    """One reading a second, all alike."""
    return samples(np.full(seconds, value))


def samples(values: object, *, every: int = SECOND) -> Samples:
    values = np.asarray(values, dtype=np.float64)
    return Samples(START + np.arange(1, len(values) + 1) * every, values)


def steps(
    *,
    total: float | np.ndarray = 0.1,
    waiting: float | np.ndarray = 0.0,
    count: int = 300,
) -> Steps:
    seconds = np.broadcast_to(np.asarray(total, dtype=np.float64), count).copy()
    waits = np.broadcast_to(np.asarray(waiting, dtype=np.float64), count).copy()
    ends = START + (np.cumsum(seconds) * SECOND).astype(np.int64)
    columns = {"step_seconds": seconds, "data_wait_seconds": waits}
    return Steps(np.arange(count, dtype=np.float64), ends, columns)


def stage(
    *,
    step_rows: Steps | None = None,
    cpu_cores: Mapping[str, float] | None = None,
    facts: Mapping[str, Fact] | None = None,
    gpus: int = 0,
    gpu_percent: float | np.ndarray = 50.0,
    gpu_memory: float | np.ndarray = 10 * GIB,
) -> Measurements:
    """A stage of steady readings; without GPUs the driver says that there is none."""
    step_rows = steps() if step_rows is None else step_rows
    seconds = _seconds(step_rows)
    sampled = {
        name: readings(v, seconds=seconds) for name, v in (cpu_cores or {}).items()
    }
    gpu = {
        "gpu_utilization_percent": samples(_each_second(gpu_percent, seconds)),
        "gpu_memory_used_bytes": samples(_each_second(gpu_memory, seconds)),
        "gpu_memory_total_bytes": 80.0 * GIB,
    }
    return Measurements(
        steps=step_rows,
        samples=sampled,
        facts=facts or {},
        gpus=dict.fromkeys(range(gpus), gpu),
        gpu_count=gpus,
    )


def loading_by_itself(
    *, wait_share: float = 0.6, cores: float = 4.0, cpu: float = 1.0, count: int = 300
) -> Measurements:
    """The training process decodes; one core is busy all the time."""
    return stage(
        step_rows=steps(total=0.1, waiting=0.1 * wait_share, count=count),
        cpu_cores={"job_cpu_cores": cpu, "job_main_cpu_cores": min(cpu, 1.0)},
        facts={"effective_cores": cores, "loader_workers": 0.0},
    )


def loading_in_workers(
    workers: int,
    *,
    wait_share: float = 0.6,
    cores: float = 8.0,
    busy: float = 0.95,
    main: float = 0.4,
) -> Measurements:
    return stage(
        step_rows=steps(total=0.1, waiting=0.1 * wait_share),
        cpu_cores={
            "job_cpu_cores": min(cores, main + workers * busy),
            "job_main_cpu_cores": main,
            "job_workers": workers,
            "worker_cpu_cores": busy,
        },
        facts={"effective_cores": cores, "loader_workers": float(workers)},
    )


def with_facts(measurements: Measurements, **facts: Fact) -> Measurements:
    return replace(measurements, facts={**measurements.facts, **facts})


def rules_of(diagnosis: Diagnosis) -> list[str]:
    return [judgement.rule for judgement in diagnosis.findings]


def finding_of(diagnosis: Diagnosis, rule: str) -> Judgement:
    return next(found for found in diagnosis.findings if found.rule == rule)


def _seconds(rows: Steps) -> int:
    if not len(rows):
        return 120
    return int(np.ceil((rows.times[-1] - START) / SECOND))


def _each_second(value: float | np.ndarray, seconds: int) -> np.ndarray:
    values = np.asarray(value, dtype=np.float64)
    return np.full(seconds, values) if values.ndim == 0 else values
