from __future__ import annotations

import numpy as np
import pytest

from tests.tracker.diagnosis.stages import readings, samples
from tracker.diagnosis.hardware.gpu_work import power_ratios, share_below, takes_part


def test_power_counts_from_rest_to_the_limit():
    # Idle power is 15 % of the limit, unless lower power was measured.
    ratios = power_ratios(readings(557.5), None, None, 1000.0)
    assert ratios is not None
    assert ratios.values[0] == pytest.approx(0.479, abs=0.001)

    ratios = power_ratios(samples([100.0, 550.0]), None, None, 1000.0)
    assert ratios is not None
    assert list(ratios.values) == [0.0, 0.5]


def test_the_enforced_limit_and_the_counters_mean_come_first():
    ratios = power_ratios(readings(1.0), readings(400.0), readings(400.0), 700.0)

    assert ratios is not None
    assert set(ratios.values) == {1.0}


@pytest.mark.parametrize(
    ("power", "limit"),
    [(None, 700.0), (readings(100.0), None), (readings(100.0), 0.0)],
)
def test_power_without_a_limit_says_nothing(power, limit):
    assert power_ratios(power, None, None, limit) is None


def test_a_gpu_that_works_now_and_then_takes_part():
    assert takes_part(samples([0.0] * 9 + [50.0]))
    assert not takes_part(readings(1.0))


def test_counts_the_readings_below():
    assert share_below(samples([1.0, 2.0, 3.0, 4.0]), 3.0) == 0.5
    assert share_below(samples(np.empty(0)), 3.0) == 0.0
