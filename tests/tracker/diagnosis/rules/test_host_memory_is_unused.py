from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.tracker.diagnosis.stages import (
    GIB,
    loading_by_itself,
    readings,
    stage,
    steps_in_epochs,
    with_facts,
)
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Finding, Severity
from tracker.diagnosis.engine.measurements import Measurements
from tracker.diagnosis.rules.host_memory_is_unused import check

MB = 1e6


def with_memory(measurements: Measurements, used: float, limit: float) -> Measurements:
    samples = {**measurements.samples, "job_memory_bytes": readings(used)}
    return with_facts(replace(measurements, samples=samples), memory_limit_bytes=limit)


# An epoch of ten seconds reads 1 GB.
FROM_DISK = with_memory(
    stage(
        step_rows=steps_in_epochs([100] * 3, waiting=0.05),
        sampled={
            "job_cpu_cores": 0.5,
            "job_workers": 4.0,
            "worker_cpu_cores": 0.1,
            "workers_blocked": 3.0,
            "job_requested_bytes_per_second": 100 * MB,
        },
        facts={"effective_cores": 8.0, "loader_workers": 4.0},
    ),
    2 * GIB,
    64 * GIB,
)
ALARMS = [FROM_DISK, with_memory(loading_by_itself(), 2 * GIB, 64 * GIB)]
SILENCES = [
    with_memory(loading_by_itself(wait_share=0.02), 2 * GIB, 64 * GIB),
    with_memory(loading_by_itself(), 20 * GIB, 64 * GIB),
]


def ask(*, used=2.0, limit=64.0, waiting=0.6, workers=0.0, **more):
    return check(
        step_seconds=np.full(100, 0.1),
        data_wait_seconds=np.full(100, waiting * 0.1),
        job_cpu_cores=readings(1.0),
        job_main_cpu_cores=readings(1.0),
        effective_cores=4.0,
        job_memory_bytes=readings(used * GIB),
        memory_limit_bytes=limit * GIB,
        loader_workers=workers,
        **more,
    )


def test_free_memory_is_no_fault_of_its_own():
    assert ask(waiting=0.02) is None


def test_there_must_be_twice_the_room_for_more_workers():
    finding = ask()

    assert isinstance(finding, Finding)
    assert finding.severity is Severity.NOTICE
    assert finding.gain is None
    assert finding.recommendations[0].suggested == "2 workers"
    assert ask(limit=2.0 + 2 * 2 * 2.0 + 0.1) is not None
    assert ask(limit=2.0 + 2 * 2 * 2.0 - 0.1) is None


def test_memory_of_the_host_that_others_use_is_not_free():
    host = {
        "host_memory_bytes": 128.0 * GIB,
        "host_memory_used_bytes": readings(125.0 * GIB),
    }

    assert ask(**host) is None


def test_idle_workers_need_no_company():
    assert ask(workers=4.0, worker_cpu_cores=readings(0.2)) is None


def test_room_for_what_an_epoch_reads():
    found = diagnose(FROM_DISK).findings

    unused = next(j for j in found if j.rule == "host-memory-is-unused")
    assert "the data of an epoch" in unused.finding.summary
    assert unused.finding.recommendations[0].suggested.endswith("for the data")


def test_it_is_no_cause_of_its_own():
    for measured in ALARMS:
        found = diagnose(measured).findings

        assert next(j for j in found if j.rule == "host-memory-is-unused").explained_by
