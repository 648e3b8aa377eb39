"""Chart of one run with the reader's options."""

import numpy as np
import pytest

from tests.web.figures.plotly_schema import DrawnLine, check_schema, numbers
from web.figures.chart import Look, Mark, chart_figure
from web.figures.series import NamedLine
from web.figures.smoothing import Smoothing

PLAIN = DrawnLine([3.0, 2.0, 1.0])
BUCKETS = DrawnLine([1.0, 1.1, 1.0], band=([0.9, 0.8, 0.9], [1.1, 900.0, 1.2]))
HOSTILE = "<a href='https://evil.test'>%{y}</a>"


def chart(*lines, marks=(), outside=(), **look):
    named = [NamedLine(line, f"line {n}", n) for n, line in enumerate(lines)]
    return chart_figure(named, Look(**look), marks=marks, outside=outside)


@pytest.mark.parametrize("axis", ["step", "time", "relative", "series"])
@pytest.mark.parametrize("log_x", [False, True])
@pytest.mark.parametrize("line", [PLAIN, BUCKETS, DrawnLine([])])
def test_plotly_knows_every_word_of_it(axis, log_x, line):
    marks = [Mark(1.0, HOSTILE)]

    check_schema(
        chart(
            line,
            PLAIN,
            axis=axis,
            over="train/epoch" if axis == "series" else "",
            log=True,
            log_x=log_x,
            smoothing=Smoothing(0.5),
            clips=True,
            low=0.5,
            high=2.0,
            marks=marks,
        )
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.6])
def test_says_which_traces_can_be_read_and_what_they_summarize(smoothing):
    figure = chart(BUCKETS, PLAIN, smoothing=Smoothing(smoothing))

    first, second = figure["lines"]
    traces = figure["data"]
    assert numbers(traces[first["trace"]]["y"]) == pytest.approx([1.0, 1.1, 1.0])
    assert numbers(first["high"]).tolist() == pytest.approx([1.1, 900, 1.2])
    assert numbers(traces[second["trace"]]["y"]).tolist() == [3.0, 2.0, 1.0]
    assert "high" not in second
    assert ("smooth" in first) == (smoothing > 0)
    if smoothing:
        assert second["smooth"] == second["trace"] + 1


def test_the_page_reads_it_and_plotly_is_silent():
    figure = chart(BUCKETS)

    assert figure["layout"]["hovermode"] is False
    assert not any("hovertemplate" in trace for trace in figure["data"])


def test_a_logarithmic_axis_shows_exactly_the_range_asked_for():
    axis = chart(PLAIN, log_x=True, low=1.0, high=100.0)["layout"]["xaxis"]

    assert axis["type"] == "log"
    assert axis["range"] == [0, 2]


def test_says_what_a_logarithmic_horizontal_axis_cannot_show():
    notes = chart(PLAIN, log_x=True)["notes"]

    assert notes == ["Values at or below 0 are not shown on a logarithmic axis."]


def test_clipping_narrows_the_axis_and_is_told():
    spiked = DrawnLine([*np.sin(np.arange(200.0)).tolist(), 900.0])

    clipped, whole = chart(spiked, clips=True), chart(spiked)

    assert clipped["layout"]["yaxis"]["range"][1] < 2
    assert clipped["notes"][0].startswith("Outliers ignored: 1 of 201 points")
    assert "range" not in whole["layout"]["yaxis"]


def test_says_how_many_points_have_no_place_on_the_axis():
    look = {"axis": "series", "over": HOSTILE}

    figure = chart(PLAIN, PLAIN, outside=[2, 1], **look)

    (note,) = figure["notes"]
    assert (
        note
        == f"3 points before the first or after the last value of {HOSTILE} are not shown."
    )
    # Notes are shown as text; Plotly would read a title as HTML.
    assert figure["layout"]["xaxis"]["title"]["text"].startswith("&lt;a")


def test_marks_are_lines_with_their_texts_letter_for_letter():
    figure = chart(PLAIN, marks=[Mark(1.0, HOSTILE, {"id": 7})])

    (shape,), (label,) = figure["layout"]["shapes"], figure["layout"]["annotations"]
    assert (shape["x0"], shape["x1"]) == (1.0, 1.0)
    assert "<" not in label["text"]
    assert figure["marks"] == [{"id": 7, "x": 1.0}]


@pytest.mark.parametrize(
    ("place", "look"),
    [
        pytest.param(float("nan"), {}, id="nowhere on this axis"),
        pytest.param(5.0, {"low": 0.0, "high": 2.0}, id="outside the zoom"),
        pytest.param(0.0, {"log_x": True}, id="not on a logarithmic axis"),
    ],
)
def test_marks_that_have_no_place_are_left_out(place, look):
    figure = chart(PLAIN, marks=[Mark(place, "here")], **look)

    assert figure["marks"] == figure["layout"]["shapes"] == []


def test_very_many_marks_are_lines_without_texts():
    figure = chart(PLAIN, marks=[Mark(1.0, "here")] * 30)

    assert len(figure["layout"]["shapes"]) == 30
    assert figure["layout"]["annotations"] == []


def between(first, last):
    return DrawnLine([1.0, 2.0], steps=[first, last])


@pytest.mark.parametrize(
    ("first", "last", "most"),
    [
        pytest.param(0, 300_000, None, id="usual"),
        pytest.param(10**9, 10**9 + 10_000, 3, id="billions"),
        pytest.param(-(10**9), -(10**9) + 10_000, 2, id="negative"),
        pytest.param(17 * 10**14, 17 * 10**14 + 10**10, 2, id="nanoseconds"),
        pytest.param(10**15, 10**15 + 50, 1, id="no room for two"),
    ],
)
def test_long_tick_labels_are_few_and_level(first, last, most):
    layout = chart(between(first, last))["layout"]

    assert layout["xaxis"].get("nticks") == most
    assert layout["xaxis"].get("tickangle") == (None if most is None else 0)
    assert (layout["margin"]["r"] > 20) == (most is not None)


def test_a_zoomed_axis_has_labels_for_what_it_shows():
    figure = chart(between(0, 2 * 10**9), low=1e9, high=1e9 + 100)

    assert "nticks" in figure["layout"]["xaxis"]


def test_large_numbers_on_a_logarithmic_axis_are_powers_of_ten():
    axes = [
        chart(between(1, last), log_x=True)["layout"]["xaxis"]
        for last in (1_000, 10**9)
    ]

    assert [axis.get("exponentformat") for axis in axes] == [None, "power"]
