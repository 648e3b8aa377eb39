from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, stage, steps
from tracker.diagnosis.engine.finding import Finding
from tracker.diagnosis.rules.gpu_and_cpu_are_both_idle import check


def idle(*, cpu=1.0, gpu=20.0, waiting=0.0, phases=None):
    return stage(
        step_rows=steps(waiting=waiting),
        gpus=1,
        gpu_percent=gpu,
        phases=phases,
        sampled={"job_cpu_cores": cpu, "io_pressure_share": 0.01},
        facts={"effective_cores": 8.0},
    )


ALARMS = [idle()]
SILENCES = [
    idle(cpu=6.0),
    idle(gpu=80.0),
    idle(gpu=0.0),
    idle(waiting=0.05),
    idle(phases={"request": 0.08}),
]


def ask(*, busy=20.0, cpu=1.0, **more):
    return check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.zeros(100),
        gpu_utilization_percent=readings(busy),
        job_cpu_cores=readings(cpu),
        effective_cores=10.0,
        **more,
    )


@pytest.mark.parametrize(
    ("busy", "cpu", "is_found"),
    [
        pytest.param(49.0, 1.0, True, id="the GPU just idle"),
        pytest.param(51.0, 1.0, False, id="the GPU just busy"),
        pytest.param(20.0, 3.9, True, id="the CPU just idle"),
        pytest.param(20.0, 4.1, False, id="the CPU just busy"),
    ],
)
def test_judges_near_each_limit(busy, cpu, is_found):
    assert (ask(busy=busy, cpu=cpu) is not None) == is_found


def test_goes_through_what_could_hold_the_work_up():
    finding = ask(
        io_pressure_share=readings(0.5),
        cgroup_throttled_share=readings(0.0),
        phase_seconds={"log": np.full(100, 0.1), "copy": np.full(100, 0.01)},
    )

    assert isinstance(finding, Finding)
    assert finding.summary.endswith("Possible cause: storage and logging.")
    limits = {e.statistic: (e.value, e.limit) for e in finding.evidence}
    assert limits["copies, share of step time"] == (pytest.approx(0.01), 0.05)
    assert [r.text.split(",")[0] for r in finding.recommendations] == [
        "Move reads and writes of the step to a background thread or prefetch them.",
        "Log every few steps instead of in each step.",
    ]


def test_without_a_suspect_something_outside_is_waited_for():
    finding = ask(job_main_thread_cpu_cores=readings(0.1))

    assert isinstance(finding, Finding)
    assert "The cause is not the data or a busy main thread" in finding.summary
    assert "main thread's waits" in finding.recommendations[0].text


def test_unmeasured_causes_are_not_mentioned():
    finding = ask()

    assert isinstance(finding, Finding)
    assert finding.summary.endswith("The cause is not the data.")


def test_the_gain_is_bounded_by_the_gpus_own_work():
    finding = ask(busy=25.0)

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(4.0)


def test_an_open_finding_stays_above_the_limits():
    assert ask(busy=53.0, cpu=4.3, already_open=True) is not None
    assert ask(busy=56.0, already_open=True) is None
