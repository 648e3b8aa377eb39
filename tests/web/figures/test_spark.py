"""Lines as small as a word."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.figures.spark import HEIGHT, WIDTH, spark_path


def drawn(values):
    return spark_path(
        np.arange(len(values), dtype=float), np.array(values, dtype=float)
    )


def test_a_line_goes_from_end_to_end_and_up_for_more():
    places = re.findall(r"[ML]([\d.]+) ([\d.]+)", drawn([1.0, 2.0]))

    (left, low), (right, high) = [(float(x), float(y)) for x, y in places]
    assert left < 2 < WIDTH - 2 < right
    assert high < 2 < HEIGHT - 2 < low


def test_a_flat_line_is_in_the_middle():
    assert {y for _, y in re.findall(r"([\d.]+) ([\d.]+)", drawn([5, 5, 5]))} == {
        f"{HEIGHT / 2:.1f}"
    }


def test_gaps_are_gaps():
    assert drawn([1, 2, np.nan, 2, 1]).count("M") == 2


@pytest.mark.parametrize("values", [[], [1.0], [np.nan, np.inf], [np.nan, 3.0]])
def test_fewer_than_two_points_are_no_line(values):
    assert drawn(values) == ""


@given(st.lists(st.floats(), max_size=40))
def test_whatever_is_drawn_stays_inside(values):
    for x, y in re.findall(r"[ML](\S+) ([^ML]+)", drawn(values)):
        assert 0 <= float(x) <= WIDTH
        assert 0 <= float(y) <= HEIGHT
