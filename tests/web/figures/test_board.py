"""Several series of several runs in one chart of a dashboard."""

from __future__ import annotations

import pytest

from tests.web.figures.plotly_schema import DrawnLine, check_schema, numbers
from web.figures.board import BoardLine, board_figure
from web.figures.chart import Look
from web.figures.smoothing import Smoothing

BUCKETS = DrawnLine([1.0, 2.0], "val/loss", band=([0.5, 1.0], [1.5, 9.0]))


def board(metrics: int, runs: int, line: DrawnLine = BUCKETS, **look):
    lines = [
        BoardLine(line, f"run {run}", run, metric)
        for metric in range(metrics)
        for run in range(runs)
    ]
    return board_figure(lines, Look(**look), metric_count=metrics, run_count=runs)


def looks(figure) -> list[tuple[str, str, str]]:
    return [(read["name"], read["colour"], read["dash"]) for read in figure["lines"]]


@pytest.mark.parametrize("axis", ["step", "time", "relative"])
def test_plotly_knows_every_word_of_it(axis):
    check_schema(
        board(6, 3, axis=axis, log=True, smoothing=Smoothing(0.5), low=0.5, high=1.0)
    )


def test_its_axes_are_those_of_all_charts():
    figure = board(
        1, 2, axis="series", over="epoch", log_x=True, clips=True, low=1.0, high=9.0
    )

    check_schema(figure)
    assert figure["layout"]["xaxis"]["type"] == "log"
    assert (figure["axis"], figure["over"]) == ("series", "epoch")


def test_it_is_said_how_many_points_have_no_place_on_the_axis():
    lines = [BoardLine(DrawnLine([1.0, 2.0], "val/loss"), "run 0", 0, 0)]
    look = Look(axis="series", over="epoch")

    figure = board_figure(lines, look, metric_count=1, run_count=1, outside=[3])

    assert (
        "3 points lie before the first or after the last value of epoch."
        in (figure["notes"])
    )


def test_runs_have_colours_and_metrics_dashes():
    assert looks(board(2, 2)) == [
        ("run 0 · val/loss", "var(--run-0)", "solid"),
        ("run 1 · val/loss", "var(--run-1)", "solid"),
        ("run 0 · val/loss", "var(--run-0)", "dash"),
        ("run 1 · val/loss", "var(--run-1)", "dash"),
    ]


def test_of_one_run_the_metrics_have_the_colours():
    assert looks(board(2, 1)) == [
        ("val/loss", "var(--run-0)", "solid"),
        ("val/loss", "var(--run-1)", "solid"),
    ]


def test_runs_that_share_a_colour_are_dashed_in_another_way():
    eleventh = looks(board(1, 11))[10]

    assert eleventh == ("run 10", "var(--run-0)", "dash")


@pytest.mark.parametrize("smoothing", [0.0, 0.6])
def test_each_line_can_be_read_with_what_it_summarises(smoothing):
    figure = board(2, 12, smoothing=Smoothing(smoothing))

    assert len(figure["lines"]) == 24
    for read in figure["lines"]:
        trace = figure["data"][read["trace"]]
        assert numbers(trace["y"]).tolist() == [1.0, 2.0]
        assert trace["line"]["dash"] == read["dash"]
        assert numbers(read["high"]).tolist() == [1.5, 9.0]
        assert ("smooth" in read) == (smoothing > 0)
