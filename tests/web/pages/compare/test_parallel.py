"""Axes of parallel coordinates."""

from __future__ import annotations

import math

import pytest

from web.pages.compare.parallel import MAX_WORDS, parallel_axis


def test_numbers_lie_between_the_least_and_the_largest():
    axis = parallel_axis("loss", "loss", [3.0, None, 1.0])

    assert (axis.low, axis.high) == (1.0, 3.0)
    assert axis.places == (3.0, None, 1.0)
    assert axis.texts == ("3", "–", "1")


@pytest.mark.parametrize("value", [0.0, 5.0, -1e300])
def test_runs_of_one_value_lie_in_the_middle(value):
    axis = parallel_axis("x", "x", [value, value])

    assert axis.low < value < axis.high


def test_the_largest_numbers_are_still_apart():
    axis = parallel_axis("x", "x", [-1.7e308, 1.7e308])

    assert all(math.isfinite(tick.place) for tick in axis.ticks)


def test_words_have_an_order_and_a_place_each():
    axis = parallel_axis("optimizer", "optimizer", ["sgd", "adam", None, "sgd"])

    assert axis.places == (1.0, 0.0, None, 1.0)
    assert [tick.text for tick in axis.ticks] == ["adam", "sgd"]


def test_numbers_beside_words_are_words_in_their_order():
    axis = parallel_axis("workers", "workers", [10.0, 2.0, "auto"])

    assert [tick.text for tick in axis.ticks] == ["2", "10", "auto"]


def test_of_very_many_words_the_ends_are_written():
    axis = parallel_axis("name", "name", [f"w{n:03}" for n in range(MAX_WORDS + 1)])

    assert len(axis.ticks) == 2


def test_no_values_are_an_empty_axis():
    axis = parallel_axis("x", "x", [None, None])

    assert axis.places == (None, None)
    assert axis.low < axis.high
