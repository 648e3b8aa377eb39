from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import GIB, readings, stage
from tracker.diagnosis.engine.finding import Finding
from tracker.diagnosis.rules.others_use_the_same_hardware import check


def shared(*, others=0.0, held=0.0, job=1.0):
    return {
        "gpu_job_processes": job,
        "gpu_job_sm_percent": 60.0 * job,
        "gpu_other_sm_percent": others,
        "gpu_other_memory_bytes": held,
    }


CPU = {"job_cpu_cores": 4.0, "host_cpu_percent": 90.0}
WAITING = {"job_main_thread_core_wait_share": 0.2}
HOST = {"host_cores": 16.0}

ALARMS = [
    stage(gpus=1, gpu=shared(others=40.0), sampled=CPU),
    stage(gpus=1, gpu=shared(held=20 * GIB), sampled=CPU),
    stage(sampled=CPU | WAITING, facts=HOST),
    stage(sampled=CPU | {"host_cpu_steal_percent": 45.0}),
]
SILENCES = [
    stage(gpus=1, gpu=shared(), sampled=CPU),
    # A card that the job does not use.
    stage(gpus=1, gpu=shared(others=90.0, job=0.0), sampled=CPU),
    # Other jobs are busy on separate cores.
    stage(sampled=CPU | {"job_main_thread_core_wait_share": 0.0}, facts=HOST),
    # The job waits because of its own quota.
    stage(sampled=CPU | WAITING | {"cgroup_throttled_share": 0.3}, facts=HOST),
    # Other ranks belong to the job.
    stage(sampled=CPU | WAITING, facts=HOST | {"world_size": 8.0}),
]


def on_gpu(**use):
    signals = {name: readings(value) for name, value in shared(**use).items()}
    return {0: signals | {"gpu_memory_total_bytes": 80.0 * GIB}}


@pytest.mark.parametrize(
    ("use", "is_found"),
    [
        pytest.param({"others": 11.0}, True, id="just time"),
        pytest.param({"others": 9.0}, False, id="hardly any time"),
        pytest.param({"held": 8.1 * GIB}, True, id="just memory"),
        pytest.param({"held": 7.9 * GIB}, False, id="hardly any memory"),
    ],
)
def test_judges_a_gpu_near_each_limit(use, is_found):
    assert (check(readings(1.0), gpus=on_gpu(**use)) is not None) == is_found


@pytest.mark.parametrize(
    ("busy", "waits", "is_found"),
    [
        pytest.param(60.0, 0.11, True, id="just enough of both"),
        pytest.param(54.0, 0.11, False, id="others use little"),
        pytest.param(60.0, 0.09, False, id="the job hardly waits"),
    ],
)
def test_judges_cores_near_each_limit(busy, waits, is_found):
    answer = check(
        readings(4.0),
        host_cpu_percent=readings(busy),
        host_cores=16.0,
        job_main_thread_core_wait_share=readings(waits),
    )

    assert (answer is not None) == is_found


def test_says_what_is_shared():
    finding = check(readings(1.0), gpus=on_gpu(others=40.0))

    assert isinstance(finding, Finding)
    assert finding.title == "Other jobs use the same GPU"
    assert "take 40 % of the time of GPU 0" in finding.summary


def test_an_open_finding_stays_above_the_lower_limit():
    assert check(readings(1.0), gpus=on_gpu(others=8.0)) is None
    assert check(readings(1.0), gpus=on_gpu(others=8.0), already_open=True) is not None
