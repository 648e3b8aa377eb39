from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    readings,
    stage,
    steps,
    with_facts,
    without_facts,
)
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.reads_are_small import check

MB = 1e6
KIB = 1024.0

MANY_FILES = stage(
    step_rows=steps(waiting=0.06),
    sampled={
        "cgroup_reads_per_second": 2000.0,
        "cgroup_read_bytes_per_second": 2000 * 16 * KIB,
        "job_read_bytes_per_second": 2000 * 16 * KIB,
        "job_requested_bytes_per_second": 2000 * 16 * KIB,
        "job_cpu_cores": 1.0,
        "job_workers": 4.0,
        "worker_cpu_cores": 0.2,
        "workers_blocked": 3.0,
        "io_pressure_share": 0.7,
    },
    facts={
        "best_read_bytes_per_second": 900 * MB,
        "effective_cores": 8.0,
        "loader_workers": 4.0,
    },
)
# The same without earlier runs, where the disk looks fully used.
FIRST_RUN = without_facts(MANY_FILES, "best_read_bytes_per_second")
ALARMS = [MANY_FILES, FIRST_RUN]
SILENCES = [
    with_facts(MANY_FILES, best_read_bytes_per_second=40 * MB),
    with_facts(MANY_FILES, data_is_on_network=1.0),
]


def ask(*, each=16 * KIB, reads=2000.0, waiting=0.5, best=900 * MB, **more):
    return check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, waiting),
        cgroup_reads_per_second=readings(reads),
        cgroup_read_bytes_per_second=readings(reads * each),
        best_read_bytes_per_second=best,
        io_pressure_share=readings(0.5),
        **more,
    )


@pytest.mark.parametrize(("kib", "is_found"), [(63, True), (65, False)])
def test_reads_are_small_below_64_kib(kib, is_found):
    assert isinstance(ask(each=kib * KIB), Finding) == is_found


def test_silent_at_half_of_the_best_rate():
    assert ask(best=60 * MB) is None


def test_silent_when_data_is_ready():
    assert ask(waiting=0.01) is None


def test_few_reads_are_no_load():
    assert ask(reads=40.0) is None


def test_data_in_memory_are_left_out():
    cached = {
        "job_read_bytes_per_second": readings(1 * MB),
        "job_requested_bytes_per_second": readings(500 * MB),
    }

    assert ask(**cached) is None


def test_reads_of_the_host_stand_in():
    finding = check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, 0.5),
        host_disk_reads_per_second=readings(2000.0),
        host_disk_read_bytes_per_second=readings(2000 * 8 * KIB),
        io_pressure_share=readings(0.5),
    )

    assert isinstance(finding, Finding)
    assert "8 KiB each" in finding.summary


def test_says_what_it_lacks():
    waits = {"step_seconds": np.full(100, 1.0), "data_wait_seconds": np.full(100, 0.5)}

    assert isinstance(check(**waits), Abstention)


def test_counts_reads_for_each_example():
    finding = ask(step_examples=np.full(100, 1000.0))

    assert isinstance(finding, Finding)
    assert finding.evidence[-1].value == pytest.approx(2.0)


@pytest.mark.parametrize("measured", [MANY_FILES, FIRST_RUN])
def test_it_is_the_one_cause(measured):
    roots = [j.rule for j in diagnose(measured).findings if not j.explained_by]

    assert roots == ["reads-are-small"]
