from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import (
    loading_by_itself,
    loading_in_workers,
    readings,
)
from tracker.diagnosis.engine.finding import AGREEING, Abstention, Finding
from tracker.diagnosis.rules.preprocessing_is_cpu_bound import check

ALARMS = [loading_by_itself(), loading_in_workers(8, cores=8.0)]
SILENCES = [loading_by_itself(wait_share=0.02), loading_in_workers(4, wait_share=0.02)]


def ask(*, waiting=0.5, job=1.0, cores=4.0, main=None, workers=0.0, busy=None, **more):
    return check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, waiting),
        job_cpu_cores=readings(job),
        effective_cores=cores,
        loader_workers=workers,
        job_workers=None if workers is None else readings(workers),
        worker_cpu_cores=None if busy is None else readings(busy),
        job_main_cpu_cores=None if main is None else readings(main),
        **more,
    )


def test_a_training_process_that_decodes_is_found():
    finding = ask(main=0.95)

    assert isinstance(finding, Finding)
    assert "data-wait-dominates" in finding.explains


def test_a_training_process_that_idles_while_it_waits_is_not_cpu_bound():
    assert ask(job=0.8, main=0.8) is None


def test_silent_when_data_is_ready_however_busy_the_cpu_is():
    assert ask(waiting=0.02, job=4.0, main=1.0) is None


@pytest.mark.parametrize(
    ("busy", "is_found"),
    [pytest.param(0.82, True, id="above"), pytest.param(0.78, False, id="below")],
)
def test_busy_workers_are_found_near_the_limit(busy, is_found):
    assert (ask(workers=2.0, busy=busy, job=2.0, cores=16.0) is not None) == is_found


def test_workers_that_wait_for_storage_are_not_bound_by_the_cpu():
    busy = {"workers": 4.0, "busy": 0.85, "job": 3.6, "cores": 16.0}

    assert ask(workers_blocked=readings(0.5), **busy) is None
    assert ask(workers_blocked=readings(0.3), **busy) is not None


def test_children_that_do_nothing_do_not_hide_busy_workers():
    # Two loader workers at 0.95 and an idle helper process: a mean of 0.63.
    finding = check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, 0.5),
        job_cpu_cores=readings(2.0),
        effective_cores=16.0,
        loader_workers=2.0,
        job_workers=readings(3.0),
        worker_cpu_cores=readings(0.633),
    )

    assert isinstance(finding, Finding)


def test_full_cores_are_found_though_no_worker_is_full():
    # Four workers share the cores that training leaves of four.
    assert ask(workers=4.0, busy=0.7, job=3.7, cores=4.0) is not None


def test_full_cores_are_not_blamed_for_waits_that_leave_them_idle():
    # 15 % of the time is waiting, and 15 % of the cores' time is idle.
    assert ask(waiting=0.15, workers=2.0, busy=0.4, job=3.4, cores=4.0) is None


def test_full_cores_and_busy_workers_together_are_surer():
    finding = ask(workers=4.0, busy=0.95, job=3.9, cores=4.0)

    assert isinstance(finding, Finding)
    assert finding.corroboration == AGREEING


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(main=0.85) is None
    assert ask(main=0.85, already_open=True) is not None


def test_abstains_if_the_loading_processes_are_unknown():
    answer = ask(workers=None)

    assert isinstance(answer, Abstention)
    assert "loader_workers" in answer.lacks


def test_cpu_time_per_batch_is_that_of_the_waiting_without_workers():
    finding = ask(waiting=0.5, main=1.0)

    assert isinstance(finding, Finding)
    per_batch = next(e for e in finding.evidence if "one batch" in e.statistic)
    assert per_batch.value == pytest.approx(0.5)


def test_does_not_judge_a_process_that_other_jobs_may_slow_down():
    host = {"host_cpu_percent": readings(100.0), "host_cores": 4.0}

    assert isinstance(ask(job=0.6, main=0.6, **host), Abstention)


def test_a_host_with_idle_cores_is_not_crowded():
    host = {"host_cpu_percent": readings(70.0), "host_cores": 4.0}

    assert ask(job=0.6, main=0.6, **host) is None
