"""Series of several runs in one chart."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from web.figures.chart import Look, give_axes
from web.figures.comparison import (
    MAX_NAMED,
    MAX_WITH_BANDS,
    lacking_note,
    overlay_figure,
    with_common_range,
    writers_note,
)
from web.figures.series import NamedLine
from web.figures.smoothing import Smoothing


@dataclass(frozen=True)
class Line:
    path: str = "train/loss"
    x: np.ndarray = field(default_factory=lambda: np.arange(3.0))
    mean: np.ndarray = field(default_factory=lambda: np.array([3.0, 2.0, 1.0]))
    exact: bool = True

    @property
    def minimum(self) -> np.ndarray:
        return self.mean

    maximum = minimum


def test_every_run_has_its_colour_and_its_name():
    figure = overlay_figure([NamedLine(Line(), "a", 0), NamedLine(Line(), "b", 3)])

    assert [trace["name"] for trace in figure["data"]] == ["a", "b"]
    assert [trace["line"]["color"] for trace in figure["data"]] == [
        "var(--run-0)",
        "var(--run-3)",
    ]
    assert [read["name"] for read in figure["lines"]] == ["a", "b"]


def test_bands_of_many_runs_are_left_to_the_hover():
    def drawn(count: int) -> list[str]:
        lines = [NamedLine(Line(exact=False), f"{n}", n) for n in range(count)]
        figure = overlay_figure(lines)
        assert all({"low", "high"} <= read.keys() for read in figure["lines"])
        return [trace.get("fill", "") for trace in figure["data"]]

    assert drawn(MAX_WITH_BANDS).count("toself") == MAX_WITH_BANDS
    assert drawn(MAX_WITH_BANDS + 1) == [""] * (MAX_WITH_BANDS + 1)


def test_the_legend_is_the_page_s():
    figure = overlay_figure([NamedLine(Line(), "a", 0)])

    assert figure["layout"]["showlegend"] is False


def test_a_colour_used_again_is_dashed_in_another_way():
    places = (1, 11, 21, 31, 41)
    figure = overlay_figure([NamedLine(Line(), str(place), place) for place in places])

    lines = [trace["line"] for trace in figure["data"]]
    assert {line["color"] for line in lines} == {"var(--run-1)"}
    # From the fifth on, styles repeat and only names differ.
    dashes = [line["dash"] for line in lines]
    assert dashes == [read["dash"] for read in figure["lines"]]
    assert dashes == ["solid", "dash", "dot", "dashdot", "solid"]


def test_a_value_s_colour_and_dash_go_before_the_run_s():
    lines = [
        NamedLine(Line(), "a", 11, colour="var(--run-5)"),
        NamedLine(Line(), "b", 12, dash="dot"),
    ]

    drawn = [trace["line"] for trace in overlay_figure(lines)["data"]]

    assert (drawn[0]["color"], drawn[0]["dash"]) == ("var(--run-5)", "solid")
    assert (drawn[1]["color"], drawn[1]["dash"]) == ("var(--run-2)", "dot")


@pytest.mark.parametrize(("log", "ends"), [(False, (0.5, 10.5)), (True, (-0.05, 1.05))])
def test_charts_of_some_lines_are_as_high_as_those_of_all(log, ends):
    lines = [
        NamedLine(Line(mean=np.array([1.0, np.nan, 2.0])), "a"),
        NamedLine(Line(mean=np.array([10.0, np.inf, 3.0])), "b"),
    ]
    figure = overlay_figure(lines[:1], log=log)

    with_common_range(figure, lines, log=log)

    assert figure["layout"]["yaxis"]["range"] == pytest.approx(ends, abs=0.06)


@pytest.mark.parametrize("mean", [[], [np.nan], [np.inf, -np.inf]])
def test_lines_without_a_number_leave_the_axis_as_it_is(mean):
    line = NamedLine(Line(x=np.arange(len(mean)), mean=np.array(mean)), "a")
    figure = overlay_figure([line])

    with_common_range(figure, [line], log=False)

    assert "range" not in figure["layout"]["yaxis"]


def test_each_trace_says_of_which_runs_it_is():
    lines = [NamedLine(Line(exact=False), "a", 3), NamedLine(Line(), "b", 0, (0, 5))]

    assert (
        overlay_figure(lines, smoothing=Smoothing(0.6))["slots"]
        == [(3,)] * 3 + [(0, 5)] * 2
    )


def test_an_overlay_has_the_axes_that_its_reader_wants():
    calm = [*np.sin(np.arange(200) / 9), 900.0]
    lines = [
        NamedLine(Line(x=np.arange(201.0), mean=np.array(calm)), f"run {n}", n)
        for n in range(9)
    ]
    look = Look("series", over="<b>epoch</b>", log_x=True, clips=True)
    figure = overlay_figure(lines, axis=look.axis)

    give_axes(figure, lines, look, outside=[2, 1])

    layout = figure["layout"]
    assert layout["xaxis"]["type"] == "log"
    assert layout["xaxis"]["title"]["text"] == "&lt;b&gt;epoch&lt;/b&gt;"
    assert layout["yaxis"]["range"][1] < 2
    assert [note.split(":")[0].split(" before ")[0] for note in figure["notes"]] == [
        "Outliers ignored",
        "3 points",
        "Values at or below 0 are not shown on a logarithmic axis.",
    ]
    assert (figure["axis"], figure["over"]) == ("series", "<b>epoch</b>")


def test_runs_with_several_writers_are_named_and_of_many_counted():
    one = writers_note([("a", [0, 1, 2])])
    many = writers_note([(name, [0, 1]) for name in "abcdefgh"])

    assert "ranks 0 to 2" in one
    assert one.endswith("points: a.")
    assert many.endswith("points: a, b, c, d, e, f and 2 more.")


def test_runs_without_the_axis_are_named_and_of_many_counted():
    assert lacking_note(["a"], "epoch") == ("Not shown (no values of epoch): a.")
    many = [f"run {number}" for number in range(MAX_NAMED + 3)]
    assert lacking_note(many, "%(x)s").endswith("run 4, run 5 and 3 more.")
