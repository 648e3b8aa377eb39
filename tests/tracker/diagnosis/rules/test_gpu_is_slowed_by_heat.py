from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples, stage
from tracker.diagnosis.engine.finding import Abstention, Finding, Severity
from tracker.diagnosis.rules.gpu_is_slowed_by_heat import check

CLOCKS = {"gpu_sm_clock_mhz": 1200.0, "gpu_sm_clock_max_mhz": 1980.0}


def warm(share, **more):
    limits = {"gpu_limited_thermal_software_share": share}
    return stage(gpus=1, gpu_percent=95.0, gpu=limits | CLOCKS | more)


ALARMS = [
    warm(0.3),
    warm(0.0, gpu_limited_thermal_hardware_share=0.4),
]
SILENCES = [
    warm(0.0),
    # Hot, but not throttled.
    warm(0.0, gpu_temperature_celsius=88.0, gpu_temperature_slowdown_celsius=90.0),
]


def counted(share, *, quality=1.0, seconds=60):
    return replace(readings(share, seconds=seconds), quality=quality)


def ask(share, *, quality=1.0, busy=95.0, **more):
    return check(readings(busy, seconds=60), counted(share, quality=quality), **more)


@pytest.mark.parametrize(
    ("share", "quality", "severity"),
    [
        pytest.param(0.009, 1.0, None, id="counted, just too little"),
        pytest.param(0.011, 1.0, Severity.WARNING, id="counted"),
        pytest.param(0.06, 1.0, Severity.CRITICAL, id="counted, much"),
        pytest.param(0.04, 0.6, None, id="flags, too few"),
        pytest.param(0.06, 0.6, Severity.WARNING, id="flags"),
    ],
)
def test_counters_are_believed_sooner_than_flags(share, quality, severity):
    finding = ask(share, quality=quality)

    assert (finding.severity if isinstance(finding, Finding) else None) == severity


def test_a_single_flag_is_chance():
    flags = np.zeros(10)
    flags[5] = 1.0
    once = replace(samples(flags), quality=0.6)

    assert check(readings(95.0), once) is None


def test_an_idle_gpu_is_not_judged():
    assert isinstance(ask(0.5, busy=2.0), Abstention)


def test_only_busy_time_counts():
    busy = np.repeat([95.0, 0.0], 30)
    limited = np.repeat([0.0, 1.0], 30)

    assert check(samples(busy), replace(samples(limited), quality=1.0)) is None


def test_the_gain_is_the_clock_lost_while_limited():
    finding = ask(
        0.5,
        busy=100.0,
        gpu_sm_clock_mhz=readings(1000.0, seconds=60),
        gpu_sm_clock_max_mhz=2000.0,
    )

    assert isinstance(finding, Finding)
    assert finding.gain is not None
    assert finding.gain.bound == pytest.approx(1 / 0.75)


def test_without_clocks_no_gain_is_promised():
    finding = ask(0.5)

    assert isinstance(finding, Finding)
    assert finding.gain is None


def test_an_open_finding_stays_above_the_lower_limit():
    assert ask(0.007, already_open=True) is not None
    assert ask(0.004, already_open=True) is None
