"""One value of each run, drawn in three ways."""

from __future__ import annotations

import pytest

from tests.web.figures.plotly_schema import check_schema, numbers
from web.figures.run_values import (
    Axis,
    RunValue,
    bars_figure,
    distribution_figure,
    parallel_figure,
)


@pytest.mark.parametrize("log", [False, True])
def test_each_run_has_a_bar_in_its_colour(log):
    figure = bars_figure(
        [RunValue("a", 3, 2.0), RunValue("a", 0, 1.0)], "loss", log=log
    )

    check_schema(figure)
    (trace,) = figure["data"]
    assert numbers(trace["x"]).tolist() == [2.0, 1.0]
    assert trace["marker"]["color"] == ["var(--run-3)", "var(--run-0)"]
    assert len(set(trace["y"])) == 2


@pytest.mark.parametrize("values", [[], [4.0], [1.0, 1.0], [0.0, 5.0, 5.0, 1e300]])
def test_every_run_is_in_one_bin(values):
    figure = distribution_figure(values, "loss")

    check_schema(figure)
    assert numbers(figure["data"][0]["y"]).sum() == len(values)


def test_a_number_of_bins_is_kept():
    figure = distribution_figure([0.0, 1.0, 2.0], "loss", bins=7)

    assert len(numbers(figure["data"][0]["y"])) == 7


def parallel(*axes, colour=None, names=("a", "b", "c")):
    return parallel_figure(names, range(len(names)), axes, colour)


def test_a_run_crosses_each_axis_at_its_value():
    figure = parallel(
        Axis("lr", [1.0, 10.0, 100.0], is_log=True),
        Axis("optimizer", ["sgd", "adam", None]),
    )

    check_schema(figure)
    assert [trace["y"] for trace in figure["data"]] == [[0, 1], [0.5, 0], [1, None]]


def test_values_without_a_logarithm_are_gaps():
    figure = parallel(Axis("lr", [0.0, -1.0, 10.0], is_log=True))

    assert [trace["y"] for trace in figure["data"]] == [[None], [None], [0.5]]


def test_colours_follow_a_value():
    colour = Axis("loss", [0.0, 1.0, None])

    figure = parallel(Axis("lr", [1.0, 2.0, 3.0]), colour=colour)

    check_schema(figure)
    low, high, none = (trace["line"]["color"] for trace in figure["data"])
    assert "scale-low" in low
    assert "scale-high" in high
    assert none == "var(--color-line-strong)"


def test_no_values_are_an_empty_axis():
    figure = parallel(Axis("lr", [None, None, None]))

    check_schema(figure)
    assert figure["layout"]["annotations"] == []
