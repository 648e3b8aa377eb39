from __future__ import annotations

import pytest

from seamark.trials.fitting import Line, fit_line, largest_batch

GIB = 2.0**30


def test_a_line_goes_through_its_points():
    line = fit_line([(8, 1.8), (16, 2.6), (32, 4.2)])

    assert line.base == pytest.approx(1.0)
    assert line.slope == pytest.approx(0.1)
    assert line.at(64) == pytest.approx(7.4)


@pytest.mark.parametrize("points", [[], [(8, 1.0)], [(8, 1.0), (8, 2.0)]])
def test_one_place_makes_no_line(points):
    assert fit_line(points) is None


def test_the_largest_batch_leaves_a_tenth_of_the_memory():
    memory = Line(base=GIB, slope=0.1 * GIB)

    assert largest_batch(memory, 10 * GIB, tried=16) == 80


def test_what_fitted_fits_and_what_failed_does_not():
    memory = Line(base=GIB, slope=0.1 * GIB)

    assert largest_batch(memory, 2 * GIB, tried=16) == 16
    assert largest_batch(memory, 10 * GIB, tried=16, failed=64) == 63


def test_a_line_is_not_believed_far_from_its_points():
    memory = Line(base=0.0, slope=1.0)

    assert largest_batch(memory, 1e12, tried=64) == 64 * 64


@pytest.mark.parametrize("memory", [None, Line(GIB, 0.0), Line(GIB, -1.0)])
def test_without_a_growing_memory_the_largest_is_unknown(memory):
    assert largest_batch(memory, 10 * GIB, tried=16) is None
    assert largest_batch(memory, 10 * GIB, tried=16, failed=64) == 16
