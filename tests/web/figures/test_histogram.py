import math

import numpy as np
import pytest

from tests.web.figures.plotly_schema import check_schema, numbers
from tracker.records.histogram import Histogram
from web.figures.histogram import (
    ROWS,
    HistogramRow,
    common_edges,
    histogram_figure,
    histogram_rows,
    spread,
)


def histogram(edges, counts, others=0.0):
    return Histogram(np.array(edges, float), np.array(counts, float), others)


ONE = histogram([0, 1, 2], [3, 5])
EMPTY = histogram([], [], others=4)


def figure_of(*histograms, x=None, **options):
    places = np.arange(len(histograms), dtype=float) if x is None else np.array(x)
    return histogram_figure(places, histograms, **options)


@pytest.mark.parametrize("axis", ["step", "time", "relative"])
@pytest.mark.parametrize(
    "drawn", [[], [ONE], [ONE, EMPTY, histogram([-1, 5], [2])], [EMPTY]], ids=len
)
def test_plotly_knows_every_word_of_it(axis, drawn):
    check_schema(figure_of(*drawn, axis=axis, low=0.0, high=2.0, count=9))


def row_of(name, slot, *histograms):
    x = np.arange(len(histograms), dtype=float)
    return HistogramRow(name, slot, x, histograms, len(histograms))


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_each_run_has_a_heat_map_with_the_same_bounds_and_scale(count):
    rows = [
        row_of(f"<run {number}>", number, ONE, histogram([0, 1, 2], [number, 99]))
        for number in range(count)
    ]

    figure = histogram_rows(rows, axis="step")

    check_schema(figure)
    assert len(figure["data"]) == count
    assert len({trace["zmax"] for trace in figure["data"]}) == 1
    titles = [each["text"] for each in figure["layout"].get("annotations", [])]
    assert titles == [f"&lt;run {number}&gt;" for number in range(count) if count > 1]
    lowest = figure["data"][-1]["colorscale"][-1][1]
    assert lowest == f"var(--run-{count - 1})"


def test_the_same_bins_are_drawn_as_they_are():
    figure = figure_of(ONE, histogram([0, 1, 2], [0, 8]))

    (drawn,) = figure["data"]
    assert numbers(drawn["x"]).tolist() == [0, 1]
    assert numbers(drawn["y"]).tolist() == [0, 1, 2]
    assert numbers(drawn["customdata"]).tolist() == [[3, 0], [5, 8]]
    assert figure["notes"] == []


def test_other_bins_are_counted_anew_and_it_is_said():
    figure = figure_of(ONE, histogram([1, 3], [10]))

    (drawn,) = figure["data"]
    counts = numbers(drawn["customdata"])
    assert counts.shape == (ROWS, 2)
    assert counts.sum(axis=0).tolist() == pytest.approx([8, 10])
    assert figure["notes"] == [
        "Bins differ between steps. Counts are distributed evenly within each bin."
    ]


def test_what_is_in_no_bin_is_told():
    assert figure_of(EMPTY)["notes"] == [
        "4 values are NaN or infinite and not in any bin.",
        "No histogram has finite values.",
    ]
    assert figure_of()["notes"] == ["No histograms in this range."]
    assert figure_of(ONE, count=9)["notes"] == [
        "Showing 1 of 9 histograms, evenly sampled."
    ]


def test_the_last_of_several_at_a_step_is_drawn_in_order_of_steps():
    figure = figure_of(
        ONE, histogram([0, 1, 2], [1, 1]), histogram([0, 1, 2], [7, 7]), x=[5, 2, 5]
    )

    (drawn,) = figure["data"]
    assert numbers(drawn["x"]).tolist() == [2, 5]
    assert numbers(drawn["customdata"]).tolist() == [[1, 7], [1, 7]]


def test_counting_anew_keeps_every_value():
    edges = np.linspace(-3, 9, 40)

    assert spread(ONE, edges).sum() == pytest.approx(8)


@pytest.mark.parametrize("size", [1e-320, 1.0, 1e308])
def test_edges_of_any_size_ascend(size):
    edges = common_edges([histogram([-size, size], [1]), histogram([0, size], [1])])

    assert math.isfinite(edges[0])
    assert (np.diff(edges / 2) > 0).all() or size < 1e-300
