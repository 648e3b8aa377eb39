from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, rules_of, stage, steps
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.rules.cores_are_oversubscribed import check

THROTTLED = stage(
    step_rows=steps(waiting=0.05),
    sampled={
        "job_cpu_cores": 3.9,
        "job_main_cpu_cores": 0.3,
        "job_workers": 8.0,
        "worker_cpu_cores": 0.45,
        "cgroup_throttled_share": 0.6,
    },
    facts={
        "effective_cores": 4.0,
        "cpu_quota_cores": 4.0,
        "host_cores": 96.0,
        "loader_workers": 8.0,
    },
)
CRAMMED = stage(
    sampled={"job_threads": 96.0, "worker_core_wait_share": 0.5},
    facts={"effective_cores": 8.0},
)
ALARMS = [THROTTLED, CRAMMED]
SILENCES = [
    stage(sampled={"cgroup_throttled_share": 0.02}, facts={"effective_cores": 4.0}),
    # Sleeping threads.
    stage(
        sampled={"job_threads": 96.0, "worker_core_wait_share": 0.02},
        facts={"effective_cores": 8.0},
    ),
]


def ask(*, throttled=None, threads=None, core_wait=None, waiting=0.5, **more):
    return check(
        effective_cores=4.0,
        cgroup_throttled_share=None if throttled is None else readings(throttled),
        job_threads=None if threads is None else readings(threads),
        worker_core_wait_share=None if core_wait is None else readings(core_wait),
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, waiting),
        **more,
    )


@pytest.mark.parametrize(("share", "is_found"), [(0.11, True), (0.09, False)])
def test_stops_count_from_a_tenth_of_the_periods(share, is_found):
    assert isinstance(ask(throttled=share), Finding) == is_found


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(throttled=0.06, already_open=True) is not None
    assert ask(throttled=0.04, already_open=True) is None


def test_stops_without_waiting_are_a_notice():
    finding = ask(throttled=0.6, waiting=0.0)

    assert isinstance(finding, Finding)
    assert finding.severity is Severity.NOTICE
    assert finding.gain is None


def test_many_stops_of_a_job_that_waits_are_critical():
    finding = ask(throttled=0.3)

    assert isinstance(finding, Finding)
    assert finding.severity is Severity.CRITICAL
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(1 / 0.7)


def test_names_quota_host_and_workers():
    finding = ask(
        throttled=0.3, cpu_quota_cores=4.0, host_cores=96.0, job_workers=readings(16.0)
    )

    assert isinstance(finding, Finding)
    assert "a quota of 4 of the host's 96 cores" in finding.summary
    assert [r.suggested for r in finding.recommendations[:2]] == [
        "4 threads at a time",
        "4 workers",
    ]
    assert "OMP_NUM_THREADS=1" in finding.recommendations[0].code


def test_many_threads_alone_are_no_fault():
    assert ask(threads=400.0, core_wait=0.1) is None
    assert ask(threads=400.0, core_wait=0.3) is not None
    assert ask(threads=5.0, core_wait=0.3) is None


def test_cores_that_other_jobs_take_are_not_judged():
    host = {
        "job_cpu_cores": readings(2.0),
        "host_cpu_percent": readings(100.0),
        "host_cores": 8.0,
    }

    assert isinstance(ask(threads=400.0, core_wait=0.3, **host), Abstention)


def test_a_job_with_too_many_threads_for_its_cores_is_judged_on_a_shared_machine():
    # Its threads want 3.4 / (1 - 0.5) = 6.8 of the 4 cores.
    host = {"host_cpu_percent": readings(100.0), "host_cores": 4.0}
    own = ask(threads=20.0, core_wait=0.5, job_cpu_cores=readings(3.4), **host)
    foreign = ask(threads=20.0, core_wait=0.3, job_cpu_cores=readings(2.6), **host)

    assert isinstance(own, Finding)
    assert isinstance(foreign, Abstention)


def test_says_what_it_lacks():
    answer = ask()

    assert isinstance(answer, Abstention)
    assert "cgroup_throttled_share" in answer.lacks


def test_it_is_the_cause_of_busy_cores_and_of_waiting():
    found = diagnose(THROTTLED)

    assert rules_of(found)[0] == "cores-are-oversubscribed"
    assert [j.rule for j in found.findings if not j.explained_by] == [
        "cores-are-oversubscribed"
    ]


def test_a_job_that_uses_little_does_not_crowd_itself_out():
    assert ask(threads=400.0, core_wait=0.3, job_cpu_cores=readings(0.5)) is None
