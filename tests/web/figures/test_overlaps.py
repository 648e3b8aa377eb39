import numpy as np

from tests.web.figures.plotly_schema import DrawnLine
from web.figures.overlaps import lies_on
from web.figures.rows import Frame, Reading, Row, rows_figure

CORES = DrawnLine([1.0, 1.01, 0.99, 1.0])
APART = DrawnLine([1.0, 1.5, 2.0, 0.5])


def test_a_line_that_is_the_same_lies_on_the_one_before():
    assert lies_on(DrawnLine([1.0, 1.0, 1.0, 1.0]), [CORES])
    assert not lies_on(APART, [CORES])
    assert not lies_on(CORES, [])


def test_lines_of_other_moments_or_of_nothing_hide_none():
    later = DrawnLine([1.0, 1.0], steps=[100.0, 101.0])

    assert not lies_on(later, [CORES])
    assert not lies_on(DrawnLine([]), [CORES])
    assert not lies_on(DrawnLine([np.nan] * 4), [CORES])


def test_a_hidden_line_is_seen_through_the_gaps_of_the_other():
    row = Row(
        "Cores", "", [Reading("all", [CORES]), Reading("main", [CORES])], limit=None
    )

    below, above = rows_figure([row], Frame())["data"]

    assert (below["line"]["dash"], above["line"]["dash"]) == ("solid", "dash")
