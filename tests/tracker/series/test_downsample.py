from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.series.examples import any_points, finite_steps, noise, points
from tracker.series.downsample import (
    Buckets,
    bucket_starts,
    concatenate,
    merge,
    saturated,
    select,
    summarize,
    summarize_rows,
)
from tracker.series.points import Points


def test_summarizes_points_that_follow_each_other():
    buckets = summarize(points([3, 1, 2, 9, 8], steps=[4, 3, 5, 9, 7]), size=3)

    assert buckets.count.tolist() == [3, 2]
    assert buckets.minimum.tolist() == [1, 8]
    assert buckets.maximum.tolist() == [3, 9]
    assert buckets.mean.tolist() == [2, 8.5]
    assert buckets.first_step.tolist() == [3, 7]
    assert buckets.last_step.tolist() == [5, 9]


def test_nan_and_infinity_do_not_poison_a_bucket():
    buckets = summarize(points([1, np.nan, 3, np.inf, np.nan, np.nan]), size=4)

    assert buckets.finite_count.tolist() == [2, 0]
    assert buckets.mean[0] == 2
    assert buckets.minimum[0] == 1
    assert buckets.maximum[0] == np.inf
    assert np.isnan([buckets.mean[1], buckets.minimum[1], buckets.maximum[1]]).all()


def test_a_bucket_of_one_infinity_only_has_it_as_mean():
    assert summarize(points([np.inf, np.inf]), size=2).mean.tolist() == [np.inf]
    assert np.isnan(summarize(points([np.inf, -np.inf]), size=2).mean).all()


@given(any_points(steps=finite_steps), st.integers(1, 9), st.floats(0, 100))
def test_merging_loses_no_point_and_no_peak(some, size, width):
    fine = summarize(some, size=size)

    coarse = merge(fine, position=np.arange(len(fine)) * 10.0, width=width)

    finite = some.values[np.isfinite(some.values)]
    assert coarse.count.sum() == len(some)
    assert coarse.finite_count.sum() == len(finite)
    if not np.isnan(some.values).all():
        assert np.nanmin(coarse.minimum) == np.nanmin(some.values)
        assert np.nanmax(coarse.maximum) == np.nanmax(some.values)
    known = ~np.isnan(coarse.mean)
    assert (coarse.minimum[known] <= coarse.mean[known]).all()
    assert (coarse.mean[known] <= coarse.maximum[known]).all()


@given(any_points(steps=finite_steps), st.integers(2, 9))
def test_rows_of_a_table_are_summarized_like_single_series(some, size):
    two_rows = np.stack([some.values, some.values])

    found = summarize_rows(two_rows, bucket_starts(len(some), size))

    expected = summarize(some, size=size)
    for name, rows in found.items():
        alone = getattr(expected, name)
        assert np.array_equal(rows, np.stack([alone, alone]), equal_nan=True), name


def test_merges_by_position_in_whatever_order_buckets_come():
    fine = summarize(points([1, 2, 3, 4], steps=[30, 0, 31, 10]), size=1)

    coarse = merge(fine, position=fine.first_step, width=10)

    assert coarse.first_step.tolist() == [0, 10, 30]
    assert coarse.maximum.tolist() == [2, 4, 3]


def test_empty_stays_empty():
    assert len(merge(Buckets.empty(), position=np.empty(0), width=1)) == 0
    assert len(concatenate([])) == 0
    assert len(summarize(Points.empty())) == 0


def test_concatenates_and_selects():
    both = concatenate([summarize(points([1])), summarize(points([2]))])

    assert both.total.tolist() == [1, 2]
    assert select(both, both.total > 1).total.tolist() == [2]


def test_the_mean_of_huge_values_stays_among_them():
    huge = summarize(points([1.7e308, 1.7e308, 1.6e308]), size=3)

    assert 1.6e308 <= huge.mean[0] <= 1.7e308


@pytest.mark.parametrize("total", [np.inf, -np.inf, np.nan])
def test_totals_stay_finite(total):
    assert np.isfinite(saturated(np.array([total]))).all()


def test_means_agree_with_numpy():
    values = noise(1_000)

    buckets = summarize(points(values), size=100)

    assert np.allclose(buckets.mean, values.reshape(10, 100).mean(axis=1))
