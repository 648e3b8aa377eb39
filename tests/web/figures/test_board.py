"""Several series of several runs in one chart of a dashboard."""

from __future__ import annotations

import pytest

from tests.web.figures.plotly_schema import DrawnLine, check_schema, numbers
from web.figures.board import BoardLine, BoardStyle, Group, board_figure
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
        "3 points before the first or after the last value of epoch are not shown."
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
def test_each_line_can_be_read_with_what_it_summarizes(smoothing):
    figure = board(2, 12, smoothing=Smoothing(smoothing))

    assert len(figure["lines"]) == 24
    for read in figure["lines"]:
        trace = figure["data"][read["trace"]]
        assert numbers(trace["y"]).tolist() == [1.0, 2.0]
        assert trace["line"]["dash"] == read["dash"]
        assert numbers(read["high"]).tolist() == [1.5, 9.0]
        assert ("smooth" in read) == (smoothing > 0)


def grouped(labels, metrics=1, **more):
    lines = [
        BoardLine(BUCKETS, f"run {run}", run, metric, run)
        for metric in range(metrics)
        for run in range(len(labels))
    ]
    groups = [
        Group(label, f"var(--run-{label})", sorted(set(labels)).index(label))
        for label in labels
    ]
    return board_figure(
        lines,
        Look(),
        metric_count=metrics,
        run_count=len(labels),
        groups=groups,
        **more,
    )


def test_each_group_is_one_line_with_a_band():
    figure = grouped(["0", "1", "0"])

    check_schema(figure)
    assert [read["name"] for read in figure["lines"]] == ["0 (2 runs)", "1"]
    assert [read["colour"] for read in figure["lines"]] == [
        "var(--run-0)",
        "var(--run-1)",
    ]
    assert sum("fill" in trace for trace in figure["data"]) == 2
    many = grouped([str(number) for number in range(6)])
    assert not any("fill" in trace for trace in many["data"])


def test_groups_of_several_metrics_have_a_line_for_each():
    names = [read["name"] for read in grouped(["0", "0"], metrics=2)["lines"]]

    assert names == ["0 · val/loss (2 runs)"] * 2


@pytest.mark.parametrize(
    ("points", "mode"),
    [("always", "lines+markers"), ("never", "lines"), ("only", "markers")],
)
def test_lines_have_the_chosen_width_dash_and_points(points, mode):
    figure = styled(BoardStyle(width=3.2, dash="dot", points=points))

    check_schema(figure)
    (line,) = [trace for trace in figure["data"] if "fill" not in trace]
    assert line["line"]["width"] == pytest.approx(3.2)
    assert (line["line"]["dash"], line["mode"]) == ("dot", mode)


def styled(style, **look):
    line = BoardLine(BUCKETS, "run", 0, 0)
    return board_figure([line], Look(**look), metric_count=1, run_count=1, style=style)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.0, 10.0), [0, 10]),
        ((None, 10.0), [0.075, 10]),
        ((0.0, None), [0, 9.425]),
        ((99.0, None), None),
        ((None, None), None),
    ],
)
def test_an_automatic_end_of_an_axis_fits_the_data(ends, expected):
    figure = styled(BoardStyle(y_ends=ends))

    check_schema(figure)
    found = figure["layout"]["yaxis"].get("range")
    assert found == (pytest.approx(expected) if expected else None)


def test_ends_of_a_logarithmic_axis_are_exponents():
    figure = styled(BoardStyle(y_ends=(0.01, 100.0)), log=True)

    assert figure["layout"]["yaxis"]["range"] == [-2, 2]
    lowest = styled(BoardStyle(y_ends=(0.0, 100.0)), log=True)
    assert lowest["layout"]["yaxis"]["range"][0] < 0
    x = styled(BoardStyle(x_ends=(None, 1.5)))["layout"]["xaxis"]["range"]
    assert x == [0, 1.5]
