"""Builds stages with the measurements of the agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from tracker.diagnosis.engine.diagnosis import Diagnosis
from tracker.diagnosis.engine.judgement import Judgement
from tracker.diagnosis.engine.measurements import Measurements, Steps
from tracker.diagnosis.engine.rule import Rule
from tracker.diagnosis.signals import SIGNALS, Fact, Kind, Ranks, Samples

START = 1_767_355_200_000_000
SECOND = 1_000_000
GIB = 1024**3


def readings(value: float, *, seconds: int = 30) -> Samples:
    """Return one sample per second with a constant value."""
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


def ranks_of(
    step_seconds: float | np.ndarray,
    *,
    ranks: int = 4,
    count: int = 300,
    **parts: object,
) -> Ranks:
    """Return aligned ranks; each part is a number, one per rank, or (steps, ranks).

    A part is named `data_wait_seconds`, or by its phase.
    """

    def column(value: object) -> np.ndarray:
        return np.broadcast_to(np.asarray(value, float), (count, ranks)).copy()

    seconds = column(step_seconds)
    columns = {
        name if name == "data_wait_seconds" else f"phase/{name}": column(value)
        for name, value in parts.items()
    }
    ends = START + (np.cumsum(seconds[:, 0]) * SECOND).astype(np.int64)
    return Ranks(
        tuple(range(ranks)),
        np.arange(count, dtype=np.float64),
        ends,
        {"step_seconds": seconds, **columns},
    )


def service(
    *,
    count: int = 200,
    every: float = 1.0,
    own: float | np.ndarray = 0.01,
    queue: float | None = None,
    load_model: float | np.ndarray | None = None,
    compute: float | np.ndarray | None = 0.09,
    computed_together: int = 1,
) -> dict[str, Samples]:
    """Return the phases of consecutive requests, and of their parts."""
    ends = START + (np.arange(1, count + 1) * every * SECOND).astype(np.int64)

    def spans(value: float | np.ndarray, before: int, *, step: int = 1) -> Samples:
        values = np.broadcast_to(np.asarray(value, float), count)
        return Samples((ends - before)[::step], values[::step].copy(), 1.0)

    found = {"request": spans(own, 0)}
    if queue is not None:
        found["queue"] = spans(queue, 30)
    if load_model is not None:
        found["load_model"] = spans(load_model, 20)
    if compute is not None:
        found["compute"] = spans(compute, 10, step=computed_together)
    # A part that takes no time in a request has no phase.
    return {
        name: Samples(span.times[span.values > 0], span.values[span.values > 0], 1.0)
        for name, span in found.items()
    }


def steps_in_epochs(
    lengths: Sequence[int],
    *,
    gap: float = 0.5,
    total: float | np.ndarray = 0.1,
    waiting: float | np.ndarray = 0.0,
) -> Steps:
    """Return steps of epochs with a gap between them."""
    rows = steps(total=total, waiting=waiting, count=sum(lengths))
    epoch = np.repeat(np.arange(len(lengths)), lengths)
    return replace(rows, times=rows.times + (epoch * gap * SECOND).astype(np.int64))


def stage(
    *,
    step_rows: Steps | None = None,
    sampled: Mapping[str, float | np.ndarray] | None = None,
    facts: Mapping[str, Fact] | None = None,
    gpus: int = 0,
    gpu_percent: float | np.ndarray = 50.0,
    gpu_memory: float | np.ndarray = 10 * GIB,
    gpu: Mapping[str, float | np.ndarray | str] | None = None,
    phases: Mapping[str, float | np.ndarray] | None = None,
    device_phases: Mapping[str, float | np.ndarray] | None = None,
    **more: Any,
) -> Measurements:
    """Return a stage with constant samples; without GPUs the driver reports none.

    `gpu` are further signals and facts of each GPU. A number is sampled each second for as long
    as the steps last; an array has one sample per second.
    """
    step_rows = steps() if step_rows is None else step_rows
    step_rows = replace(
        step_rows,
        phases={
            signal: {
                name: np.broadcast_to(np.asarray(value, float), len(step_rows))
                for name, value in named.items()
            }
            for signal, named in (
                ("phase_seconds", phases),
                ("device_phase_seconds", device_phases),
            )
            if named
        },
    )
    seconds = _seconds(step_rows)

    def sampled_each_second(value: float | np.ndarray) -> Samples:
        return samples(_each_second(value, seconds))

    of_gpu = {
        "gpu_utilization_percent": gpu_percent,
        "gpu_memory_used_bytes": gpu_memory,
        "gpu_memory_total_bytes": 80.0 * GIB,
        **(gpu or {}),
    }
    measured = {
        name: value if SIGNALS[name].kind is Kind.FACT else sampled_each_second(value)
        for name, value in of_gpu.items()
    }
    return Measurements(
        step_rows,
        samples={n: sampled_each_second(v) for n, v in (sampled or {}).items()},
        facts=facts or {},
        gpus={number: measured for number in range(gpus)},  # noqa: C420 - never changed
        gpu_count=gpus,
        **more,
    )


def loading_by_itself(
    *, wait_share: float = 0.6, cores: float = 4.0, cpu: float = 1.0, count: int = 300
) -> Measurements:
    """The training process decodes; one core is always busy."""
    return stage(
        step_rows=steps(total=0.1, waiting=0.1 * wait_share, count=count),
        sampled={"job_cpu_cores": cpu, "job_main_cpu_cores": min(cpu, 1.0)},
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
        sampled={
            "job_cpu_cores": min(cores, main + workers * busy),
            "job_main_cpu_cores": main,
            "job_workers": workers,
            "worker_cpu_cores": busy,
        },
        facts={"effective_cores": cores, "loader_workers": float(workers)},
    )


def with_facts(measurements: Measurements, **facts: Fact) -> Measurements:
    return replace(measurements, facts={**measurements.facts, **facts})


def without_facts(measurements: Measurements, *names: str) -> Measurements:
    facts = {n: fact for n, fact in measurements.facts.items() if n not in names}
    return replace(measurements, facts=facts)


def examples(rule: Rule, name: str) -> list[Measurements]:
    """Return the ALARMS or SILENCES of the tests of a rule."""
    tests = import_module(
        f"tests.tracker.diagnosis.rules.test_{rule.name.replace('-', '_')}"
    )
    found: list[Measurements] = getattr(tests, name)
    assert found
    return found


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
