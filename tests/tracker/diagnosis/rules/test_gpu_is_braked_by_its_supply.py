from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples, stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.gpu_is_braked_by_its_supply import check


def braked(**shares):
    limits = {"gpu_limited_power_brake_share": 0.0} | shares
    return stage(gpus=1, gpu_percent=95.0, gpu=limits)


ALARMS = [
    braked(gpu_limited_power_brake_share=0.1),
    braked(gpu_limited_hardware_slowdown_share=0.1),
]
SILENCES = [
    braked(),
    # Heat sets the slowdown flag, too.
    braked(
        gpu_limited_hardware_slowdown_share=0.3, gpu_limited_thermal_hardware_share=0.3
    ),
]


def counted(share):
    return replace(readings(share), quality=1.0)


def ask(brake=0.0, slowdown=0.0, heat=0.0, *, busy=95.0, **more):
    return check(
        readings(busy),
        counted(brake),
        gpu_limited_hardware_slowdown_share=counted(slowdown),
        gpu_limited_thermal_hardware_share=counted(heat),
        **more,
    )


@pytest.mark.parametrize(
    ("brake", "slowdown", "heat", "is_found"),
    [
        pytest.param(0.001, 0.0, 0.0, True, id="any brake"),
        pytest.param(0.0001, 0.0, 0.0, False, id="the counter's grain"),
        pytest.param(0.0, 0.006, 0.0, True, id="just a slowdown"),
        pytest.param(0.0, 0.004, 0.0, False, id="hardly a slowdown"),
        pytest.param(0.0, 0.5, 0.497, False, id="a slowdown for heat"),
        pytest.param(0.0, 0.3, 0.25, False, id="for heat, counted another way"),
    ],
)
def test_judges_near_each_limit(brake, slowdown, heat, is_found):
    assert (ask(brake, slowdown, heat) is not None) == is_found


def test_tells_the_supply_from_the_card():
    by_card, by_supply = ask(slowdown=0.1), ask(brake=0.1)

    assert isinstance(by_card, Finding)
    assert isinstance(by_supply, Finding)
    assert by_card.title == "The GPU throttles without overheating"
    assert "power brake" in by_supply.summary


def test_one_flag_is_chance_and_two_are_not():
    flags = np.zeros(30)
    flags[5] = 1.0
    assert check(readings(95.0), replace(samples(flags), quality=0.6)) is None

    flags[9] = 1.0
    assert check(readings(95.0), replace(samples(flags), quality=0.6)) is not None


def test_an_idle_gpu_is_not_judged():
    assert isinstance(ask(0.5, busy=0.0), Abstention)


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(slowdown=0.004, already_open=True) is not None
    assert ask(slowdown=0.002, already_open=True) is None
