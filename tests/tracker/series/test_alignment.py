"""A line over the values of another series."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.series.alignment import laid_over, steps_between

NAN = float("nan")


def floats(*values):
    return np.array(values, float)


def test_between_two_points_a_step_lies_in_proportion():
    laid = laid_over(floats(0, 50, 100), floats(0, 100), floats(1, 2))

    assert laid.x.tolist() == [1, 1.5, 2]
    assert laid.kept.all()
    assert laid.outside == 0


def test_values_outside_of_the_points_are_unknown():
    laid = laid_over(floats(0, 10, 20, 30), floats(10, 20), floats(1, 2))

    assert laid.kept.tolist() == [False, True, True, False]
    assert laid.x.tolist() == [1, 2]
    assert laid.outside == 2


@pytest.mark.parametrize("other", [floats(), floats(NAN, NAN)])
def test_a_series_without_numbers_has_no_places(other):
    laid = laid_over(floats(1, 2), np.arange(float(len(other))), other)

    assert (len(laid.x), laid.outside) == (0, 2)


def test_nan_values_are_skipped():
    laid = laid_over(floats(0, 1, 2), floats(0, 1, 2), floats(0, NAN, 4))

    assert laid.x.tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        pytest.param(2, 3, (10, 40), id="with a point more on each side"),
        pytest.param(0, 9, (0, 40), id="all of it"),
        pytest.param(2.2, 2.8, (20, 30), id="between two points"),
        pytest.param(7, 9, None, id="nowhere"),
    ],
)
def test_a_range_of_values_is_a_range_of_steps(low, high, expected):
    steps, values = floats(0, 10, 20, 30, 40), floats(0, 1, 2, 3, 4)

    assert steps_between(steps, values, low, high) == expected


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30),
    st.floats(-1e6, 1e6),
    st.floats(0, 1e6),
)
def test_no_point_within_the_range_lies_outside_those_steps(values, low, width):
    steps = np.arange(float(len(values)))
    found = steps_between(steps, np.array(values), low, low + width)

    inside = [
        step for step, v in zip(steps, values, strict=True) if low <= v <= low + width
    ]
    if inside:
        assert found[0] <= inside[0]
        assert inside[-1] <= found[1]
