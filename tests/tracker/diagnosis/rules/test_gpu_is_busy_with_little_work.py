from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import AGREEING, CONTRADICTED, Abstention, Finding
from tracker.diagnosis.rules.gpu_is_busy_with_little_work import check


def busy(**gpu):
    return stage(gpus=1, gpu_percent=99.0, gpu=gpu)


LIMIT = {"gpu_power_limit_at_start_watts": 700.0}

ALARMS = [
    busy(gpu_sm_active_percent=15.0),
    busy(gpu_power_watts=200.0, **LIMIT),
]
SILENCES = [
    busy(gpu_sm_active_percent=85.0),
    busy(gpu_power_watts=650.0, **LIMIT),
    busy(gpu_sm_active_percent=15.0, gpu_dram_active_percent=75.0),
    stage(gpus=1, gpu_percent=60.0, gpu={"gpu_sm_active_percent": 15.0}),
]


def ask(*, utilization=99.0, sm=None, watts=None, **more):
    return check(
        readings(utilization),
        gpu_sm_active_percent=None if sm is None else readings(sm),
        gpu_power_watts=None if watts is None else readings(watts),
        gpu_power_limit_at_start_watts=700.0,
        **more,
    )


@pytest.mark.parametrize(
    ("signals", "is_found"),
    [
        pytest.param({"sm": 39.0}, True, id="few processors"),
        pytest.param({"sm": 41.0}, False, id="just enough processors"),
        # Idle power is assumed to be 105 of 700 W.
        pytest.param({"watts": 370.0}, True, id="little power"),
        pytest.param({"watts": 375.0}, False, id="just enough power"),
        pytest.param({"sm": 30.0, "utilization": 86.0}, True, id="just busy"),
        pytest.param({"sm": 30.0, "utilization": 84.0}, False, id="just not busy"),
        pytest.param({"sm": 60.0, "watts": 200.0}, False, id="counters know better"),
    ],
)
def test_judges_near_each_limit(signals, is_found):
    assert (ask(**signals) is not None) == is_found


def test_a_card_that_tells_neither_is_not_judged():
    assert isinstance(ask(), Abstention)


def test_power_says_nothing_of_a_gpu_that_is_held_back_by_heat():
    hot = ask(watts=200.0, gpu_limited_thermal_share=readings(0.3))

    assert isinstance(hot, Abstention)


def test_a_busy_memory_controller_is_another_fault():
    assert ask(watts=200.0, gpu_memory_utilization_percent=readings(80.0)) is None


def test_power_and_processors_agree_or_contradict():
    agreeing, contradicted = ask(sm=20.0, watts=200.0), ask(sm=20.0, watts=650.0)

    assert isinstance(agreeing, Finding)
    assert isinstance(contradicted, Finding)
    assert agreeing.corroboration == AGREEING
    assert contradicted.corroboration == CONTRADICTED


def test_the_gain_is_known_from_processors_alone():
    counted, guessed = ask(sm=20.0), ask(watts=200.0)

    assert isinstance(counted, Finding)
    assert isinstance(guessed, Finding)
    assert counted.gain is not None
    assert counted.gain.bound == pytest.approx(4.0)
    assert guessed.gain is None


def test_a_kernel_that_waits_for_other_gpus_is_named_first():
    finding = ask(
        sm=20.0,
        step_seconds=np.ones(10),
        phase_seconds={"all_reduce": np.full(10, 0.4)},
    )

    assert isinstance(finding, Finding)
    assert finding.recommendations[0].text.startswith(
        "40 % of the time is communication"
    )


def test_an_open_finding_stays_above_the_limits():
    assert ask(sm=43.0, utilization=82.0, already_open=True) is not None
    assert ask(sm=46.0, already_open=True) is None
