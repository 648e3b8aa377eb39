from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import stage, steps
from tracker.diagnosis.engine.diagnosis import diagnose
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.step_time_is_in_no_phase import check

MODEL = {"forward": 0.02, "backward": 0.03}

ALARMS = [
    stage(phases=MODEL, sampled={"job_main_thread_cpu_cores": 0.9}),
    stage(step_rows=steps(total=0.1, waiting=0.01), phases={"train_step": 0.05}),
]
SILENCES = [
    stage(phases={"forward": 0.04, "backward": 0.05}),
    # A GPU that computes meanwhile.
    stage(phases=MODEL, gpus=1, gpu_percent=95.0),
    # Waiting for data is not unnamed time.
    stage(step_rows=steps(total=0.1, waiting=0.045), phases=MODEL),
    # Other jobs use the cores.
    stage(
        phases={"forward": 0.03, "backward": 0.03},
        sampled={"job_main_thread_core_wait_share": 0.7},
    ),
]


def ask(measurements, **more):
    values = measurements.values()
    names = ("step_seconds", "data_wait_seconds", "phase_seconds")
    return check(**{name: values[name] for name in names}, **more)


@pytest.mark.parametrize(
    ("named", "is_found"),
    [
        pytest.param(0.069, True, id="just enough without a name"),
        pytest.param(0.071, False, id="just too little"),
    ],
)
def test_judges_near_the_limit(named, is_found):
    answer = ask(stage(phases={"step": named}))

    assert (answer is not None) == is_found


def test_offers_the_line_that_names_the_time():
    finding = ask(stage(phases=MODEL))

    assert isinstance(finding, Finding)
    assert "50 ms of each 100 ms step (50 %) are in no phase" in finding.summary
    assert finding.recommendations[0].code == 'with run.phase("rest_of_step"):'


@pytest.mark.parametrize(
    ("sampled", "said"),
    [
        ({"job_main_thread_cpu_cores": 0.95}, "The main thread computes meanwhile."),
        ({"job_main_thread_cpu_cores": 0.1}, "The main thread waits meanwhile"),
        (
            {
                "job_main_thread_cpu_cores": 0.1,
                "job_write_bytes_per_second": 2e6,
            },
            "writes 195 KiB per step: it probably waits for files",
        ),
    ],
)
def test_names_what_the_main_thread_does_meanwhile(sampled, said):
    measurements = stage(phases={"forward": 0.03, "backward": 0.03}, sampled=sampled)
    finding = ask(measurements, **measurements.samples)

    assert isinstance(finding, Finding)
    assert said in finding.summary


def test_a_loop_without_phases_of_the_model_is_not_judged():
    assert ask(stage(phases={"checkpoint": 0.001})) == Abstention(("phase_seconds",))


def test_a_loop_that_times_its_forward_pass_only_is_not_judged():
    answer = ask(stage(phases={"forward": 0.03}))

    assert isinstance(answer, Abstention)
    assert "backward" in answer.lacks[0]


def test_time_without_a_name_is_found_among_all_rules():
    found = diagnose(stage(phases=MODEL))

    assert found.findings[0].rule == "step-time-is-in-no-phase"
