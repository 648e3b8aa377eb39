from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.one_core_does_the_work import check

MODEL = {"forward": 0.02, "backward": 0.03}


def host(*, phases=MODEL, gpu=40.0, main=0.98, job=1.2, waiting=0.0):
    return stage(
        step_rows=steps(waiting=waiting),
        sampled={
            "job_cpu_cores": job,
            "job_main_cpu_cores": main,
            "job_workers": 4.0,
            "worker_cpu_cores": 0.05,
        },
        facts={"effective_cores": 8.0, "loader_workers": 4.0},
        gpus=1,
        gpu_percent=gpu,
        phases=phases,
    )


ALARMS = [host(), host(phases=None, waiting=0.04)]
SILENCES = [
    # Within the model, small kernels may be the limit.
    host(phases={"forward": 0.05, "backward": 0.048}),
    host(gpu=95.0),
]


def ask(
    *, main=0.98, job=1.2, gpu=40.0, waiting=0.0, workers=4.0, phases=MODEL, **more
):
    count = 100
    named = {name: np.full(count, value) for name, value in (phases or {}).items()}
    return check(
        step_seconds=np.full(count, 0.1),
        data_wait_seconds=np.full(count, waiting),
        job_cpu_cores=readings(job),
        job_main_cpu_cores=readings(main),
        effective_cores=more.pop("cores", 8.0),
        busiest_gpu_percent=readings(gpu),
        gpus={0: {}},
        loader_workers=workers,
        phase_seconds=named,
        **more,
    )


@pytest.mark.parametrize(
    "healthy",
    [
        {"main": 0.88},
        {"gpu": 72.0},
        {"job": 4.0},
        {"main": 3.0, "job": 3.1},
        {"cores": 1.0},
        {"phases": {"forward": 0.05, "backward": 0.045}},
    ],
)
def test_silent_near_each_limit(healthy):
    assert ask(**healthy) is None


def test_an_open_finding_stays_above_the_lower_limits():
    assert ask(main=0.85, already_open=True) is not None


def test_the_main_thread_is_looked_at_beside_native_ones():
    thread = {"job_main_thread_cpu_cores": readings(0.99)}

    assert isinstance(ask(main=1.5, job=1.6, **thread), Finding)


def test_time_in_logging_is_outside_of_the_model():
    phases = {"forward": 0.03, "backward": 0.03, "log": 0.04}

    finding = ask(phases=phases)

    assert isinstance(finding, Finding)
    assert "40 ms of each 100 ms" in finding.summary


def test_abstains_without_phases():
    answer = ask(phases=None)

    assert isinstance(answer, Abstention)
    assert answer.lacks == ("phase_seconds",)


def test_waiting_for_workers_that_idle_is_the_main_process():
    finding = ask(phases=None, waiting=0.04)

    assert isinstance(finding, Finding)
    assert "data-wait-dominates" in finding.explains


def test_a_process_that_loads_by_itself_is_another_rules():
    assert ask(phases=None, waiting=0.06, workers=0.0) is None


def test_the_lost_time_bounds_the_gain():
    finding = ask(phases={"forward": 0.02, "backward": 0.03})

    assert isinstance(finding, Finding)
    assert finding.explains == ("step-time-is-in-no-phase",)
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(2.0)
