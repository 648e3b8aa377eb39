"""The time between logged points."""

from tests.web.figures.plotly_schema import DrawnLine, check_schema, numbers
from web.figures.intervals import interval_row
from web.figures.rows import Frame, rows_figure

EVERY = DrawnLine([0.1, 0.1, 2.0, 0.1], steps=[1.0, 2.0, 3.0, 4.0])
SLOW = DrawnLine([2.0], steps=[3.0])
NONE = DrawnLine([], steps=[])


def test_slow_intervals_are_points_above_the_line():
    figure = rows_figure([interval_row(EVERY, SLOW, steps=10)], Frame())

    check_schema(figure)
    line, slow = figure["data"]
    assert (line["mode"], slow["mode"]) == ("lines", "markers")
    assert numbers(slow["y"]).tolist() == [2.0]


def test_the_title_has_the_steps_of_an_interval():
    assert interval_row(EVERY, SLOW, steps=10).note == "per 10 steps"
    assert interval_row(EVERY, SLOW, steps=1).note == "per step"


def test_without_slow_intervals_there_is_one_line():
    assert len(interval_row(EVERY, NONE, steps=1).readings) == 1
