from __future__ import annotations

import numpy as np
import pytest

from tracker.diagnosis.analysis.thinning import (
    StepSample,
    Thinner,
    stride_of,
    thin_curve,
    usual_interval,
)
from tracker.series.points import Points

SECOND = 1_000_000


def series(values: np.ndarray, *, start: int = 0) -> Points:
    numbers = np.arange(len(values))
    return Points(
        numbers.astype(np.float64), (start + numbers + 1) * SECOND, values.astype(float)
    )


@pytest.mark.parametrize(
    ("count", "stride"), [(0, 1), (4_096, 1), (4_097, 2), (86_400, 22)]
)
def test_long_series_are_thinned_and_short_ones_are_not(count, stride):
    assert stride_of(count) == stride


def test_thinned_samples_have_the_same_mean_and_percentiles():
    values = np.random.default_rng(1).gamma(2, 10, 86_400)

    left = Thinner().thin(series(values), 22).values

    assert len(left) < 4_000
    assert left.mean() == pytest.approx(values.mean(), rel=0.03)
    for percent in (5, 50, 95):
        assert np.percentile(left, percent) == pytest.approx(
            np.percentile(values, percent), rel=0.06
        )


def test_peaks_and_both_ends_stay():
    values = np.full(10_000, 5.0)
    values[[3_333, 6_667]] = 99.0, -1.0

    left = Thinner().thin(series(values), 100)

    assert (left.values.max(), left.values.min()) == (99.0, -1.0)
    assert (left.times[0], left.times[-1]) == (SECOND, 10_000 * SECOND)


def test_pauses_stay_as_long_as_they_were():
    times = np.r_[np.arange(1, 5_001), np.arange(9_000, 14_000)] * SECOND
    points = Points(np.arange(10_000.0), times, np.ones(10_000))

    left = Thinner().thin(points, 100)

    assert np.diff(left.times).max() == 4_000 * SECOND


def test_the_newest_are_all_there():
    left = Thinner(whole_after=9_000 * SECOND).thin(series(np.ones(10_000)), 100)

    assert np.sum(left.times > 9_000 * SECOND) == 1_000


def test_series_of_the_same_times_keep_their_own_peaks():
    first = series(np.arange(1_000.0))
    second = Points(first.steps, first.times, first.values[::-1].copy())
    second.values[501] = 1e6
    thinner = Thinner()

    thinner.thin(first, 100)

    assert thinner.thin(second, 100).values.max() == 1e6


def test_values_that_are_not_finite_are_no_peaks():
    values = np.ones(1_000)
    values[[5, 6, 7]] = np.nan, np.inf, 3.0

    assert 3.0 in Thinner().thin(series(values), 100).values
    assert len(Thinner().thin(series(np.full(1_000, np.nan)), 100)) == 11


def test_the_usual_interval_is_that_of_most_readings():
    assert usual_interval(np.array([1, 2, 3, 90]) * SECOND) == 1
    assert usual_interval(np.array([1])) is None


def test_a_curve_keeps_its_level_though_it_has_peaks():
    random = np.random.default_rng(1)
    values = 2 + random.normal(0, 0.1, 100_000)
    values[random.integers(0, 100_000, 100)] = 500.0

    parts = [thin_curve(series(part), 50).values for part in np.split(values, 10)]

    usual = np.concatenate(parts)
    assert 2_000 <= len(usual) <= 2_100
    assert usual.mean() == pytest.approx(values.mean(), rel=0.4)
    assert np.median(usual) == pytest.approx(2, rel=0.01)


def test_a_curve_says_when_it_ended_to_be_a_number():
    values = np.ones(10_000)
    values[[17, 555]] = np.nan
    values[7_777:] = np.inf

    left = thin_curve(series(values), 100)

    numbers = np.flatnonzero(np.isfinite(left.values))
    assert left.steps[numbers[-1]] == 7_776
    assert left.steps[numbers[-1] + 1] == 7_777
    assert not np.isfinite(left.values[-3:]).any()


@pytest.mark.parametrize("last", [1, 2, 3])
def test_the_last_points_of_a_curve_are_all_there(last):
    values = np.ones(10_000)
    values[-last:] = np.nan

    left = thin_curve(series(values), 100).values

    assert np.isnan(left).tolist()[-4:] == [False] * (4 - last) + [True] * last


def test_a_curve_that_hardly_changes_is_not_constant():
    values = np.ones(10_000)
    assert np.ptp(thin_curve(series(values), 100).values) == 0
    values[5_055] = 1.5

    assert np.ptp(thin_curve(series(values), 100).values) == 0.5


def test_a_sample_of_steps_has_the_same_steps_of_each_series():
    first = series(np.arange(100_000.0))
    # Another rank that started later, with some steps missing.
    other = series(np.arange(100_000.0), start=33)[np.arange(100_000) % 7 != 3]

    kept, others = (StepSample().thin(each, 20).steps for each in (first, other))

    assert 4_700 <= len(kept) <= 5_300
    assert others.tolist() == kept[kept % 7 != 3].tolist()


@pytest.mark.parametrize("period", [2, 10, 20, 64, 100])
def test_periodic_steps_keep_their_share_after_thinning(period):
    kept = StepSample().thin(series(np.zeros(200_000)), 20).steps

    share = np.mean(kept % period == 0)
    assert share == pytest.approx(1 / period, abs=0.015)


def test_the_newest_steps_are_all_there():
    sample = StepSample(whole_after=9_000 * SECOND)

    assert np.sum(sample.thin(series(np.ones(10_000)), 100).steps >= 9_000) == 1_000
    assert len(StepSample().thin(series(np.ones(100)), 1)) == 100
