from __future__ import annotations

import numpy as np
import pytest

from tracker.diagnosis.analysis.outliers import find_outliers, is_rhythm, period_of


def test_outliers_are_far_beyond_the_usual_spread():
    seconds = np.random.default_rng(1).normal(1.0, 0.05, 1000)
    seconds[[10, 500]] = 3.0

    outliers = find_outliers(seconds)

    assert outliers is not None
    assert list(outliers.rows) == [10, 500]
    assert outliers.share == pytest.approx(4.0 / 1004, rel=0.02)


def test_steps_of_equal_length_have_none():
    outliers = find_outliers(np.full(100, 0.5))

    assert outliers is not None
    assert not len(outliers.rows)
    assert find_outliers(np.empty(0)) is None


@pytest.mark.parametrize("period", [4, 7, 10, 50, 101, 250])
def test_finds_periods(period):
    assert period_of(np.arange(period, 1000, period), 1000) == period


def test_a_period_may_waver_by_a_step():
    jitter = np.random.default_rng(4).integers(-1, 2, 19)
    rows = np.arange(50, 1000, 50) + jitter

    assert period_of(rows, 1000) == pytest.approx(50, abs=1)


def test_slow_steps_in_a_row_are_one_event():
    rows = np.sort(np.concatenate([np.arange(40, 900, 40), np.arange(41, 900, 40)]))

    assert period_of(rows, 900) == 40


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        pytest.param([3, 90, 95, 300, 420, 800], 1000, id="irregular"),
        pytest.param([100, 200], 1000, id="two"),
        pytest.param([10, 20, 30, 40], 50, id="few steps"),
        pytest.param([], 1000, id="none"),
    ],
)
def test_finds_no_period_where_there_is_none(rows, count):
    assert period_of(np.array(rows, dtype=np.int64), count) is None


def test_a_rhythm_is_kept_to_the_end():
    regular = np.full(1000, 0.1)
    regular[::40] = 0.5
    chance = np.full(1000, 0.1)
    chance[np.random.default_rng(2).choice(1000, 80, replace=False)] = 0.5

    assert is_rhythm(find_outliers(regular), 40)
    assert not is_rhythm(find_outliers(chance), 40)
    # With a period of 4, three of the four positions are within one step of any step.
    assert not is_rhythm(find_outliers(regular), 4)
