from __future__ import annotations

import numpy as np
import pytest

from tests.web.figures.plotly_schema import check_schema, numbers
from tests.web.figures.test_histogram import EMPTY, ONE, histogram, row_of
from web.figures.histogram import HistogramRow
from web.figures.ridges import even_edges, ridge_figure


def figure_of(*histograms, x=None, axis="step"):
    row = row_of("run", 0, *histograms)
    if x is not None:
        row = HistogramRow("run", 0, np.array(x, float), histograms, len(histograms))
    return ridge_figure([row], axis=axis)


@pytest.mark.parametrize("axis", ["step", "time", "relative"])
@pytest.mark.parametrize(
    "drawn", [[], [ONE], [ONE, EMPTY, histogram([-1, 5], [2])], [EMPTY]], ids=len
)
def test_plotly_knows_every_word_of_it(axis, drawn):
    check_schema(figure_of(*drawn, axis=axis))


def test_a_ridge_rises_from_its_step_in_proportion_to_its_counts():
    figure = figure_of(ONE, histogram([0, 1, 2], [0, 10]), x=[100, 200])

    first, last = figure["data"]
    assert numbers(first["x"]).tolist() == [0, 0.5, 1.5, 2]
    assert first["y"] == pytest.approx([100, 100 - 15, 100 - 25, 100])
    assert last["y"] == pytest.approx([200, 200, 200 - 50, 200])
    assert first["customdata"] == [0, 3, 5, 0]
    assert first["hovertemplate"].startswith("step 100<br>")


def test_ridges_over_time_hold_their_time_for_the_browser_to_format():
    figure = figure_of(ONE, x=[1_767_355_200_000], axis="time")

    [ridge] = figure["data"]
    assert ridge["meta"] == 1_767_355_200_000
    assert ridge["hovertemplate"].startswith("%{meta}<br>")
    assert ridge["name"] == "2026-01-02 12:00:00 UTC"


def test_the_newest_is_in_front_at_the_bottom_and_the_strongest():
    figure = figure_of(ONE, ONE, ONE, x=[30, 10, 20])

    assert [trace["name"] for trace in figure["data"]] == [
        "step 10",
        "step 20",
        "step 30",
    ]
    assert [trace["fillcolor"].split()[3] for trace in figure["data"]] == [
        "18%,",
        "46%,",
        "75%,",
    ]
    bottom, top = figure["layout"]["yaxis"]["range"]
    assert top < 10
    assert bottom > 30


def test_dragging_does_not_zoom_because_the_axes_of_charts_are_steps():
    layout = figure_of(ONE)["layout"]

    assert layout["xaxis"]["fixedrange"]
    assert layout["yaxis"]["fixedrange"]


def test_unequal_bins_are_spread_over_even_ones():
    edges = even_edges([histogram([0, 1, 10], [5, 5])])

    assert np.diff(edges) == pytest.approx(np.full(len(edges) - 1, edges[1]))
    assert (edges[0], edges[-1]) == (0, 10)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_each_run_has_ridges_with_the_same_bounds_and_scale(count):
    rows = [
        row_of(f"<run {n}>", n, ONE, histogram([0, 1, 2], [n, 99]))
        for n in range(count)
    ]

    figure = ridge_figure(rows)

    check_schema(figure)
    assert len(figure["data"]) == 2 * count
    axes = [value for name, value in figure["layout"].items() if "yaxis" in name]
    assert len({tuple(axis["range"]) for axis in axes}) == 1
    titles = [each["text"] for each in figure["layout"]["annotations"]]
    assert titles == [f"&lt;run {n}&gt;" for n in range(count)]
