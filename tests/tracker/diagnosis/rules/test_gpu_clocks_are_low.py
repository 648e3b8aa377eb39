from __future__ import annotations

import pytest

from tests.tracker.diagnosis.stages import readings, stage
from tracker.diagnosis.engine.finding import Abstention, Finding
from tracker.diagnosis.rules.gpu_clocks_are_low import check


def clocked(clock, **more):
    free = {
        "gpu_limited_power_share": 0.0,
        "gpu_limited_thermal_software_share": 0.0,
        "gpu_sm_clock_max_mhz": 1980.0,
    }
    return stage(
        gpus=1, gpu_percent=95.0, gpu=free | {"gpu_sm_clock_mhz": clock} | more
    )


ALARMS = [
    clocked(600.0),
    clocked(1000.0, gpu_limited_application_clocks_share=1.0),
]
SILENCES = [
    clocked(1900.0),
    clocked(1200.0, gpu_limited_power_share=0.9),
    clocked(600.0, gpu_limited_low_utilization_share=0.6),
]


def ask(clock, *, busy=95.0, power=0.0, **more):
    return check(
        readings(busy), readings(clock), 2000.0, readings(power), readings(0.0), **more
    )


@pytest.mark.parametrize(
    ("clock", "power", "is_found"),
    [
        pytest.param(1590.0, 0.0, True, id="just low"),
        pytest.param(1610.0, 0.0, False, id="just high enough"),
        pytest.param(1000.0, 0.04, True, id="hardly limited"),
        pytest.param(1000.0, 0.06, False, id="limited by power"),
    ],
)
def test_judges_near_each_limit(clock, power, is_found):
    assert (ask(clock, power=power) is not None) == is_found


def test_tells_clocks_that_were_set():
    finding = ask(1000.0, gpu_limited_application_clocks_share=readings(1.0))

    assert isinstance(finding, Finding)
    assert finding.title == "GPU clocks are locked below the maximum"


def test_idle_clocks_are_not_judged():
    assert isinstance(ask(300.0, busy=3.0), Abstention)


def test_the_gain_is_the_clock_that_is_missing():
    finding = ask(1000.0, busy=100.0)

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(2.0)


def test_an_open_finding_stays_below_the_higher_limit():
    assert ask(1690.0, already_open=True) is not None
    assert ask(1710.0, already_open=True) is None
