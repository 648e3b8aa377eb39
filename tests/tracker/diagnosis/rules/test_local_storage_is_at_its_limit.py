from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    readings,
    rules_of,
    stage,
    steps,
    with_facts,
)
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.local_storage_is_at_its_limit import check

MB = 1e6

AT_ITS_LIMIT = stage(
    step_rows=steps(waiting=0.05),
    sampled={
        "job_read_bytes_per_second": 190 * MB,
        "job_cpu_cores": 1.0,
        "job_workers": 4.0,
        "worker_cpu_cores": 0.2,
        "workers_blocked": 2.5,
        "io_pressure_share": 0.6,
        "host_disk_read_seconds": 0.012,
    },
    facts={
        "best_read_bytes_per_second": 200 * MB,
        "effective_cores": 8.0,
        "loader_workers": 4.0,
    },
)
ALARMS = [AT_ITS_LIMIT]
SILENCES = [
    with_facts(AT_ITS_LIMIT, best_read_bytes_per_second=900 * MB),
    with_facts(AT_ITS_LIMIT, data_is_on_network=1.0),
]


def ask(
    *,
    rate=190 * MB,
    best=200 * MB,
    waiting=0.5,
    blocked=None,
    pressure=None,
    workers=4.0,
    **more,
):
    return check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, waiting),
        job_read_bytes_per_second=readings(rate),
        best_read_bytes_per_second=best,
        loader_workers=workers,
        workers_blocked=None if blocked is None else readings(blocked),
        io_pressure_share=None if pressure is None else readings(pressure),
        **more,
    )


@pytest.mark.parametrize(("rate", "is_found"), [(161 * MB, True), (159 * MB, False)])
def test_the_rate_counts_from_four_fifths_of_the_best(rate, is_found):
    assert isinstance(ask(rate=rate, pressure=0.5), Finding) == is_found


@pytest.mark.parametrize(
    ("signs", "is_found"),
    [
        ({"pressure": 0.21}, True),
        ({"pressure": 0.19}, False),
        ({"blocked": 1.3}, True),
        ({"blocked": 1.1}, False),
    ],
)
def test_something_must_wait_for_storage(signs, is_found):
    assert isinstance(ask(**signs), Finding) == is_found


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(pressure=0.15, already_open=True) is not None


def test_silent_when_data_is_ready_however_busy_the_disk_is():
    assert ask(pressure=0.9, waiting=0.02) is None


def test_writing_is_no_fault_of_reading():
    assert ask(pressure=0.9, job_write_bytes_per_second=readings(300 * MB)) is None


def test_reads_not_delivered_by_local_disks_are_remote():
    disks = {"host_disk_read_bytes_per_second": readings(10 * MB)}

    assert ask(pressure=0.9, **disks) is None
    assert ask(pressure=0.9, data_is_on_network=0.0, **disks) is not None


def test_a_trickle_is_no_load():
    assert ask(rate=1000.0, best=1000.0, pressure=0.9) is None


def test_is_less_sure_without_earlier_runs():
    known, unknown = ask(pressure=0.9), ask(pressure=0.9, best=None)

    assert isinstance(known, Finding)
    assert isinstance(unknown, Finding)
    assert unknown.quality < known.quality
    assert "this run reached" in unknown.summary


def test_a_single_reader_is_first_given_company():
    finding = ask(pressure=0.9, workers=0.0)

    assert isinstance(finding, Finding)
    assert finding.corroboration == 0.5
    assert "too-few-loader-workers" not in finding.explains


def test_says_what_it_lacks():
    answer = ask()

    assert isinstance(answer, Abstention)
    assert "io_pressure_share" in answer.lacks


def test_it_is_the_cause_of_the_waiting():
    found = diagnose(AT_ITS_LIMIT)

    assert [j.rule for j in found.findings if not j.explained_by] == [
        "local-storage-is-at-its-limit"
    ]
    assert "data-wait-dominates" in rules_of(found)
