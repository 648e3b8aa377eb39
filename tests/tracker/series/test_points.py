from __future__ import annotations

import numpy as np

from tests.tracker.series.examples import points, same
from tracker.series.points import Points, concatenate


def test_sorts_by_step_then_by_time():
    mixed = points([1, 2, 3, 4], steps=[2, 1, 2, 0], times=[9, 8, 7, 6])

    ordered = mixed.sorted_by_step()

    assert ordered.steps.tolist() == [0, 1, 2, 2]
    assert ordered.values.tolist() == [4, 2, 3, 1]


def test_sorts_by_time_then_by_step():
    mixed = points([1, 2, 3], steps=[5, 4, 3], times=[20, 10, 10])

    assert mixed.sorted_by_time().values.tolist() == [3, 2, 1]


def test_points_alike_in_step_and_time_stay_in_their_order():
    alike = points([3, 1, 2], steps=[7, 7, 7], times=[1, 1, 1])

    assert alike.sorted_by_step().values.tolist() == [3, 1, 2]
    assert alike.sorted_by_time().values.tolist() == [3, 1, 2]


def test_points_in_order_are_not_copied():
    ordered = points([1, 2, 3])

    assert ordered.sorted_by_step() is ordered
    assert ordered.sorted_by_time() is ordered


def test_concatenates_in_the_order_given():
    first, second = points([1, 2]), points([3], steps=[0])

    assert concatenate([first, second]).values.tolist() == [1, 2, 3]
    assert same(concatenate([]), Points.empty())


def test_selects_by_mask():
    assert points([1, 2, 3])[np.array([True, False, True])].values.tolist() == [1, 3]
