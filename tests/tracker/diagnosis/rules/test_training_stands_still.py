from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import START, readings, samples, stage, steps
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.training_stands_still import check

LIMIT = {"gpu_power_limit_at_start_watts": 700.0}
HANGING = {"stage_state": "running", "silent_seconds": 1.0}


def still(*, cpu=0.02, gpu=None, watts=100.0, waited=1000, **facts):
    """Steps for 30 s, and samples for another `waited` seconds."""

    def then(before, after):
        return np.concatenate([np.full(30, before), np.full(waited, after)])

    return stage(
        step_rows=steps(total=0.1, count=300),
        sampled={"job_cpu_cores": then(1.0, cpu)},
        gpus=0 if gpu is None else 1,
        gpu_percent=then(90.0, gpu or 0.0),
        gpu={"gpu_power_watts": then(600.0, watts), **LIMIT},
        facts={**HANGING, **facts},
    )


ALARMS = [
    still(),
    still(gpu=0.0),
    still(gpu=100.0, cpu=1.0, watts=150.0),
    # Killed after a hang, by a user or a scheduler.
    still(stage_state="crashed", silent_seconds=5000.0),
]
SILENCES = [
    still(waited=10),
    still(stage_state="finished"),
    # An evaluation without a phase.
    still(gpu=100.0, cpu=1.0, watts=600.0),
    still(gpu=50.0),
    still(cpu=1.0),
]


def ask(waited, *, step=0.1, cpu=0.0, state="running", **more):
    ends = START / 1e6 + step * np.arange(1, 101)
    last = int(step * 100)
    return check(
        np.full(100, step), ends, readings(cpu, seconds=last + waited), state, **more
    )


@pytest.mark.parametrize(
    ("waited", "more", "is_found"),
    [
        pytest.param(301, {}, True, id="just five minutes"),
        pytest.param(299, {}, False, id="just not"),
        pytest.param(21, {"state": "crashed"}, True, id="killed after 21 s"),
        pytest.param(19, {"state": "crashed"}, False, id="killed after 19 s"),
        pytest.param(401, {"step": 40.0}, True, id="ten slow steps"),
        pytest.param(399, {"step": 40.0}, False, id="just not ten slow steps"),
        pytest.param(601, {"spans": {"evaluate": samples([300.0])}}, True, id="a span"),
        pytest.param(599, {"spans": {"evaluate": samples([300.0])}}, False, id="short"),
        pytest.param(900, {"cpu": 0.19}, True, id="an idle CPU"),
        pytest.param(900, {"cpu": 0.21}, False, id="a CPU that works"),
    ],
)
def test_judges_near_each_limit(waited, more, is_found):
    assert isinstance(ask(waited, **more), Finding) == is_found


def test_a_short_pause_of_an_idle_job_may_become_a_hang():
    assert ask(60) == Abstention(("five minutes without a step",))
    assert ask(10) is None
    assert ask(60, step=8.0) is None
    assert ask(60, cpu=1.0) is None


@pytest.mark.parametrize(
    ("more", "title"),
    [
        pytest.param({}, "", id="a lock"),
        pytest.param(
            {"workers_blocked": readings(2.0, seconds=910)},
            "Training is stuck on storage",
            id="storage",
        ),
        pytest.param(
            {
                "cpu": 1.0,
                "busiest_gpu_percent": readings(100.0, seconds=910),
                "gpus": {
                    0: {"gpu_power_watts": readings(150.0, seconds=910), **LIMIT},
                    1: {"gpu_power_watts": readings(200.0, seconds=910), **LIMIT},
                },
            },
            "GPUs are stuck in a collective operation",
            id="communication",
        ),
    ],
)
def test_tells_apart_what_it_hangs_in(more, title):
    finding = ask(900, **more)

    assert isinstance(finding, Finding)
    assert finding.title == title
    assert "No step for 15 min" in finding.summary


def test_one_gpu_that_works_hard_is_no_hang():
    gpus = {
        0: {"gpu_power_watts": readings(150.0, seconds=910), **LIMIT},
        1: {"gpu_power_watts": readings(600.0, seconds=910), **LIMIT},
    }
    busy = readings(100.0, seconds=910)

    assert ask(900, cpu=1.0, gpus=gpus, busiest_gpu_percent=busy) is None


def test_a_stage_that_nothing_comes_from_is_not_judged():
    assert isinstance(ask(900, silent_seconds=120.0), Abstention)
    assert ask(900, silent_seconds=10.0) is not None


def test_a_stage_that_has_finished_does_not_hang():
    assert ask(900, state="finished") is None


def test_a_hang_is_still_named_after_the_stage_was_killed():
    finding = ask(900, state="failed")

    assert isinstance(finding, Finding)
    assert "before the stage ended" in finding.summary
    assert "watch the first steps" in finding.recommendations[-1].text
