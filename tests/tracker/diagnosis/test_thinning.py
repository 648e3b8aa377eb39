from __future__ import annotations

import numpy as np
import pytest

from tracker.diagnosis.thinning import Thinner, stride_of, usual_interval
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


def test_what_is_left_has_the_same_mean_and_percentiles():
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
