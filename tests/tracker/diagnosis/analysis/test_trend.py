from __future__ import annotations

import numpy as np
import pytest

from tracker.diagnosis.analysis.trend import trend_of

NOISE = np.random.default_rng(1).normal(1.0, 0.03, 1000)


def test_a_drift_has_a_change_and_no_jump():
    trend = trend_of(NOISE * np.linspace(1.0, 1.2, 1000))

    assert trend is not None
    assert trend.change == pytest.approx(0.2, abs=0.03)
    assert trend.chance < 1e-6
    assert trend.jump is None


def test_a_jump_is_distinguished_from_a_drift():
    trend = trend_of(NOISE * np.where(np.arange(1000) < 700, 1.0, 1.5))

    assert trend is not None
    assert trend.jump == 700
    assert (trend.first, trend.last) == pytest.approx((1.0, 1.5), abs=0.02)


def test_noise_is_no_trend():
    trend = trend_of(NOISE)

    assert trend is not None
    assert abs(trend.change) < 0.02
    assert trend.chance > 0.01


def test_single_slow_steps_do_not_matter():
    values = NOISE.copy()
    values[900:905] = 100.0
    trend = trend_of(values)

    assert trend is not None
    assert abs(trend.change) < 0.02


def test_few_steps_have_no_trend():
    assert trend_of(np.ones(159)) is None


def test_a_rise_that_slows_down_starts_at_its_first_block():
    trend = trend_of(NOISE * (1.0 + np.sqrt(np.linspace(0.0, 1.0, 1000))))

    assert trend is not None
    assert trend.start == pytest.approx(1.1, abs=0.03)
    assert trend.start < trend.first - 0.1
