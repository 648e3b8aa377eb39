"""If two causes of waiting occur together, one is primary and the other is its symptom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    loading_by_itself,
    loading_in_workers,
    stage,
    steps,
    with_facts,
)
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.measurements import Measurements

MB = 1e6
PARENT = "data-wait-dominates"
IDLE_WORKERS = {
    "job_cpu_cores": 1.0,
    "job_main_cpu_cores": 0.4,
    "job_workers": 4.0,
    "worker_cpu_cores": 0.1,
    "workers_blocked": 3.0,
    "io_pressure_share": 0.7,
}
FACTS = {"effective_cores": 8.0, "loader_workers": 4.0}


def waiting(sampled=None, **facts) -> Measurements:
    return stage(
        step_rows=steps(waiting=0.06),
        sampled={**IDLE_WORKERS, **(sampled or {})},
        facts={**FACTS, **facts},
    )


def also(measurements: Measurements, **sampled) -> Measurements:
    more = stage(step_rows=measurements.steps, sampled=sampled).samples
    return replace(measurements, samples={**measurements.samples, **more})


DISK = {
    "job_read_bytes_per_second": 190 * MB,
    "cgroup_reads_per_second": 200.0,
    "cgroup_read_bytes_per_second": 190 * MB,
}
SMALL_FILES = {
    "job_read_bytes_per_second": 30 * MB,
    "cgroup_reads_per_second": 3000.0,
    "cgroup_read_bytes_per_second": 30 * MB,
}
NETWORK = {
    "job_requested_bytes_per_second": 50 * MB * (1 + np.sin(np.arange(30))),
    "host_network_receive_bytes_per_second": 50 * MB * (1 + np.sin(np.arange(30))),
}


@pytest.mark.parametrize(
    ("measured", "primary"),
    [
        (loading_by_itself(), "too-few-loader-workers"),
        (loading_in_workers(8, cores=8.0), "preprocessing-is-cpu-bound"),
        (
            also(loading_in_workers(4, cores=4.0), cgroup_throttled_share=0.5),
            "cores-are-oversubscribed",
        ),
        (
            waiting(DISK, best_read_bytes_per_second=200 * MB),
            "local-storage-is-at-its-limit",
        ),
        (waiting(SMALL_FILES), "reads-are-small"),
        (
            waiting(NETWORK | DISK, data_is_on_network=1.0),
            "remote-storage-is-the-limit",
        ),
        # A single loading process that waits for a disk needs more workers first.
        (
            also(
                with_facts(
                    loading_by_itself(cpu=0.5), best_read_bytes_per_second=200 * MB
                ),
                io_pressure_share=0.7,
                **DISK,
            ),
            "too-few-loader-workers",
        ),
        (
            waiting({"workers_blocked": 0.0, "io_pressure_share": 0.0}),
            "loader-workers-only-wait",
        ),
        (
            waiting(
                {
                    "workers_blocked": 0.0,
                    "io_pressure_share": 0.0,
                    "worker_cpu_cores": 0.5,
                }
            ),
            PARENT,
        ),
    ],
)
def test_one_cause_is_primary(measured, primary):
    found = diagnose(measured)

    assert [j.rule for j in found.findings if j.is_primary] == [primary]
    parent = next(j for j in found.findings if j.rule == PARENT)
    assert bool(parent.explained_by) == (primary != PARENT)
    assert not found.failed
