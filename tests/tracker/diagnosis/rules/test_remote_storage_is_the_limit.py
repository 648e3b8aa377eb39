from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    readings,
    samples,
    stage,
    steps,
    with_facts,
    without_facts,
)
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import COARSE, Abstention, Finding
from tracker.diagnosis.rules.remote_storage_is_the_limit import check

MB = 1e6
BURSTS = 100 * MB * (1 + np.sin(np.arange(30)))

ON_NFS = stage(
    step_rows=steps(waiting=0.06),
    sampled={
        "job_cpu_cores": 1.0,
        "job_main_cpu_cores": 0.4,
        "job_workers": 4.0,
        "worker_cpu_cores": 0.15,
        "workers_blocked": 2.0,
        "host_network_receive_bytes_per_second": BURSTS,
        "job_requested_bytes_per_second": BURSTS,
    },
    facts={
        "data_is_on_network": 1.0,
        "data_file_system": "nfs4",
        "effective_cores": 8.0,
        "loader_workers": 4.0,
    },
)
FROM_A_BUCKET = without_facts(ON_NFS, "data_is_on_network", "data_file_system")
ALARMS = [ON_NFS, FROM_A_BUCKET]
SILENCES = [with_facts(ON_NFS, data_is_on_network=0.0)]


def ask(*, waiting=0.5, on_network=1.0, blocked=None, job=1.0, workers=4.0, **more):
    return check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, waiting),
        job_cpu_cores=readings(job),
        effective_cores=8.0,
        data_is_on_network=on_network,
        loader_workers=workers,
        workers_blocked=None if blocked is None else readings(blocked),
        **more,
    )


def network(rate=BURSTS, requested=BURSTS):
    return {
        "host_network_receive_bytes_per_second": samples(rate),
        "job_requested_bytes_per_second": samples(requested),
    }


@pytest.mark.parametrize(("blocked", "is_found"), [(0.84, True), (0.76, False)])
def test_workers_that_wait_for_storage_count_from_a_fifth(blocked, is_found):
    assert isinstance(ask(blocked=blocked), Finding) == is_found


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(blocked=0.6, already_open=True) is not None


def test_reads_that_move_with_the_network_are_remote():
    finding = ask(on_network=None, **network())

    assert isinstance(finding, Finding)
    assert finding.quality <= COARSE
    assert "from the network" in finding.summary


def test_uncorrelated_network_traffic_is_not_the_data():
    other = 100 * MB * np.random.default_rng(3).random(30)

    assert isinstance(ask(on_network=None, **network(rate=other)), Abstention)


def test_a_whisper_on_the_network_moves_nothing():
    assert ask(blocked=0.0, **network(rate=BURSTS / 1000)) is None


def test_the_working_directory_stands_in():
    finding = ask(
        on_network=None, work_is_on_network=1.0, work_file_system="lustre", blocked=3.0
    )

    assert isinstance(finding, Finding)
    assert finding.quality <= COARSE
    assert "lustre" in finding.summary


def test_silent_when_data_is_ready_or_local():
    assert ask(waiting=0.01, blocked=4.0) is None
    assert ask(on_network=0.0, blocked=4.0) is None


def test_loading_that_computes_does_not_wait_for_the_network():
    assert ask(blocked=2.0, job=6.0) is None
    assert ask(blocked=2.0, worker_cpu_cores=readings(0.9)) is None


def test_says_which_line_would_tell_where_the_data_are():
    answer = ask(on_network=None, blocked=2.0)

    assert isinstance(answer, Abstention)
    assert answer.lacks == ("data_is_on_network",)


def test_says_what_it_lacks():
    assert isinstance(ask(), Abstention)


def test_a_single_reader_is_first_given_company():
    pressure = {"io_pressure_share": readings(0.6)}

    alone, several = ask(workers=0.0, **pressure), ask(**pressure)

    assert isinstance(alone, Finding)
    assert isinstance(several, Finding)
    assert alone.corroboration < several.corroboration


def test_it_is_the_cause_of_the_waiting():
    roots = [j.rule for j in diagnose(ON_NFS).findings if not j.explained_by]

    assert roots == ["remote-storage-is-the-limit"]
