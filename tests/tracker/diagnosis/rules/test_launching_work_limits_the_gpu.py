from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import finding_of, readings, stage, steps
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import CONTRADICTED, Finding
from tracker.diagnosis.rules.launching_work_limits_the_gpu import check


def launching(*, thread=0.98, gpu=45.0, waiting=0.0, **more):
    return stage(
        step_rows=steps(waiting=waiting),
        gpus=1,
        gpu_percent=gpu,
        sampled={"job_main_thread_cpu_cores": thread, **more.pop("sampled", {})},
        **more,
    )


ALARMS = [
    launching(),
    launching(gpu=80.0),
]
SILENCES = [
    launching(thread=0.4),
    # A thread that waits for the GPU looks busy.
    launching(gpu=99.0),
    launching(waiting=0.03),
    launching(gpu=0.0),
]


def ask(*, thread=0.95, process=None, busy=45.0, sm=None, waiting=0.0, **more):
    return check(
        step_seconds=np.full(100, 1.0),
        data_wait_seconds=np.full(100, waiting),
        gpu_utilization_percent=readings(busy),
        job_main_thread_cpu_cores=readings(thread),
        job_main_cpu_cores=None if process is None else readings(process),
        gpu_sm_active_percent=None if sm is None else readings(sm),
        **more,
    )


@pytest.mark.parametrize(
    ("signals", "is_found"),
    [
        pytest.param({"thread": 0.81}, True, id="a thread just busy"),
        pytest.param({"thread": 0.79}, False, id="a thread just idle"),
        pytest.param({"busy": 84.0}, True, id="just gaps"),
        pytest.param({"busy": 86.0}, False, id="hardly gaps"),
        pytest.param({"busy": 90.0, "sm": 49.0}, True, id="few processors"),
        pytest.param({"busy": 60.0, "sm": 51.0}, False, id="processors enough"),
        pytest.param({"thread": 0.5, "process": 0.81}, True, id="threads take turns"),
        pytest.param({"thread": 0.5, "process": 0.79}, False, id="and hardly rest"),
        pytest.param({"thread": 0.5, "process": 1.11}, False, id="threads at once"),
        pytest.param({"thread": 0.29, "process": 1.0}, False, id="another thread"),
        pytest.param({"waiting": 0.11}, False, id="waits for data"),
        pytest.param({"waiting": 0.09}, True, id="hardly waits for data"),
    ],
)
def test_judges_near_each_limit(signals, is_found):
    assert (ask(**signals) is not None) == is_found


def test_threads_that_take_turns_are_called_their_process():
    finding = ask(thread=0.6, process=1.02)

    assert isinstance(finding, Finding)
    assert finding.summary.startswith(
        "The threads of the main process together use 1.00 of a core"
    )
    assert finding.evidence[0].signal == "job_main_cpu_cores"


@pytest.mark.parametrize(
    ("backward", "is_found"), [(0.11, True), (0.09, False), (None, False)]
)
def test_threads_take_turns_where_something_goes_backwards(backward, is_found):
    phases = {"forward": np.full(100, 0.5)}
    if backward is not None:
        phases["backward"] = np.full(100, backward)

    found = ask(thread=0.6, process=1.0, phase_seconds=phases)

    assert (found is not None) is is_found


def test_alternating_threads_are_less_certain_without_phases():
    named = {"backward": np.full(100, 0.4)}
    sure = ask(thread=0.6, process=1.0, busy=40.0, sm=10.0, phase_seconds=named)
    unsure = ask(thread=0.6, process=1.0, busy=40.0, sm=10.0)

    assert sure.corroboration > unsure.corroboration


def test_that_threads_take_turns_ends_later_than_it_begins():
    found = ask(thread=0.6, process=1.15, already_open=True)

    assert isinstance(found, Finding)
    assert ask(thread=0.6, process=1.15) is None


def test_a_gpu_without_gaps_speaks_against_it():
    finding = ask(busy=99.0, sm=30.0)

    assert isinstance(finding, Finding)
    assert finding.corroboration == CONTRADICTED
    assert finding.gain is None


def test_the_gain_is_bounded_by_the_gpus_own_work():
    finding = ask(busy=50.0)

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(2.0)


def test_a_compiled_model_is_not_told_to_be_compiled():
    finding = ask(framework="pytorch", model_is_compiled=1.0, optimizer_is_fused=1.0)

    assert isinstance(finding, Finding)
    assert "CUDA graph" in finding.recommendations[0].text
    assert len(finding.recommendations) == 2


def test_idleness_of_gpu_and_cpu_is_its_symptom():
    diagnosis = diagnose(
        launching(
            sampled={"job_cpu_cores": 1.0, "job_main_thread_cpu_cores": 0.98},
            facts={"effective_cores": 16.0},
        )
    )

    symptom = finding_of(diagnosis, "gpu-and-cpu-are-both-idle")
    assert symptom.explained_by == "launching-work-limits-the-gpu"


def test_an_open_finding_stays_above_the_limits():
    assert ask(thread=0.75, busy=88.0, already_open=True) is not None
    assert ask(thread=0.69, already_open=True) is None
