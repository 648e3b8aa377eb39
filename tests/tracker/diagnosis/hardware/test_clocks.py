from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples
from tracker.diagnosis.hardware.clocks import (
    clock_gain,
    clock_while_busy,
    clock_while_limited,
    measure_limit,
)

BUSY = readings(90.0)


def test_limits_of_several_kinds_add_up_to_all_the_time_at_most():
    limited = measure_limit(BUSY, readings(0.7), readings(0.6), None)

    assert limited is not None
    assert limited.share == 1.0


def test_the_worst_source_says_how_good_it_is():
    counted = replace(readings(0.1), quality=1.0)

    limited = measure_limit(BUSY, counted, replace(counted, quality=0.6))

    assert limited is not None
    assert limited.quality == 0.6
    assert not limited.is_counted


def test_nothing_is_known_of_a_gpu_that_rests():
    assert measure_limit(readings(1.0), readings(0.5)) is None
    assert measure_limit(BUSY, None) is None
    assert clock_while_busy(readings(300.0), readings(1.0)) is None


def test_the_clock_of_the_limited_time_alone():
    limit = samples(np.repeat([0.0, 1.0], 15))
    clock = samples(np.repeat([2000.0, 1000.0], 15))

    assert clock_while_limited(clock, BUSY, limit) == 1000.0
    assert clock_while_limited(None, BUSY, limit) is None


def test_a_gain_is_part_of_the_busy_time():
    half = clock_gain(readings(50.0), clock_mhz=1000.0, full_mhz=2000.0)

    assert half is not None
    assert half.bound == pytest.approx(1 / 0.75)
    assert 1.0 < half.likely < half.bound


@pytest.mark.parametrize(
    ("clock", "full"), [(None, 2000.0), (1000.0, None), (2000.0, 2000.0), (0.0, 1.0)]
)
def test_no_gain_is_invented(clock, full):
    assert clock_gain(BUSY, clock_mhz=clock, full_mhz=full) is None
