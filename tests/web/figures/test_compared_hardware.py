"""Hardware of several runs over each other."""

from __future__ import annotations

import numpy as np
import pytest

from tests.web.figures.plotly_schema import DrawnLine, check_schema, numbers
from web.figures.compared_hardware import MeasuredRun, compared_hardware_figure
from web.figures.hardware import Measurement
from web.figures.hardware_kinds import OVERVIEW


def measured(name: str, slot: int, **values) -> MeasuredRun:
    paths = {"gpu0": "gpu/0/utilization_percent", "gpu1": "gpu/1/utilization_percent"}
    return MeasuredRun(
        name,
        slot,
        [
            Measurement(paths.get(key, "job/cpu_cores"), 0, DrawnLine(line))
            for key, line in values.items()
        ],
    )


def figure_of(*runs, align="run"):
    figure = compared_hardware_figure(runs, OVERVIEW, align=align)
    check_schema(figure)
    return figure


def test_a_row_for_each_kind_with_a_line_for_each_run():
    figure = figure_of(
        measured("a", 0, gpu0=[50.0, 60.0], cpu=[1.0, 2.0]),
        measured("b", 3, gpu0=[90.0, 95.0]),
    )

    assert [(t["name"], t["line"]["color"], t["yaxis"]) for t in figure["data"]] == [
        ("a", "var(--run-0)", "y"),
        ("b", "var(--run-3)", "y"),
        ("a", "var(--run-0)", "y2"),
    ]


def test_several_gpus_are_one_line_their_mean():
    (trace,) = figure_of(measured("a", 0, gpu0=[0.0, 0.0], gpu1=[100.0, 100.0]))["data"]

    assert set(np.unique(numbers(trace["y"]))) == {50.0}


def test_each_trace_says_of_which_run_it_is():
    figure = figure_of(
        measured("a", 0, gpu0=[50.0, 60.0], cpu=[1.0, 2.0]),
        measured("b", 3, gpu0=[90.0, 95.0]),
    )

    assert figure["slots"] == [[0], [3], [0]]


def test_a_second_round_of_colours_is_dashed():
    (trace,) = figure_of(measured("a", 11, cpu=[1.0, 2.0]))["data"]

    assert trace["line"]["dash"] == "dash"


@pytest.mark.parametrize(
    ("align", "title"),
    [
        ("run", "seconds since run start"),
        ("stage", "seconds since stage start"),
        ("step", "step"),
    ],
)
def test_the_axis_says_what_runs_are_aligned_by(align, title):
    figure = figure_of(measured("a", 0, cpu=[1.0, 2.0]), align=align)

    assert figure["layout"]["xaxis"]["title"]["text"] == title


def test_nothing_measured_is_an_empty_figure():
    assert figure_of(measured("a", 0))["data"] == []


def test_its_rows_say_what_the_page_reads_of_them():
    figure = figure_of(
        measured("a", 0, gpu0=[50.0, 60.0], cpu=[1.0, 2.0]),
        measured("<b>", 11, gpu0=[90.0, 95.0]),
    )
    first, second = figure["rows"]

    assert (first["axis"], second["axis"]) == ("yaxis", "yaxis2")
    assert [line["name"] for line in first["lines"]] == ["a", "<b>"]
    assert first["lines"][1]["dash"] == figure["data"][1]["line"]["dash"] == "dash"
    assert [line["trace"] for row in figure["rows"] for line in row["lines"]] == [
        0,
        1,
        2,
    ]
    assert figure["layout"]["hovermode"] is False
    assert figure["axis"] == "relative"
