"""Clipping of outliers, and the note with their number."""

import numpy as np
import pytest

from tests.web.figures.plotly_schema import DrawnLine
from web.figures.clipping import clipping

NAN, INF = float("nan"), float("inf")
CALM = np.sin(np.arange(200) / 9).tolist()


def test_a_spike_lies_beyond_the_axis_and_is_counted():
    values = [*CALM, 900.0]

    found = clipping([DrawnLine(values)])

    assert found.high < 2
    assert (found.count, found.total, found.most) == (1, 201, 900)
    assert found.note == (
        "Outliers ignored: 1 of 201 points are outside the axis. Full range: -1 to 900."
    )


def test_the_end_without_outliers_stays_where_the_line_ends():
    found = clipping([DrawnLine([*np.linspace(5, 6, 300).tolist(), 900.0])])

    assert 4.8 < found.low < 5


def test_a_spike_within_a_stretch_of_points_is_found():
    band = ([v - 0.1 for v in CALM], [v + 0.1 for v in CALM])
    band[1][70] = 900.0

    found = clipping([DrawnLine(CALM, band=band)])

    assert found.high < 2
    assert "segments extend" in found.note


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([], id="nothing"),
        pytest.param([1.0, 900.0], id="too few to tell"),
        pytest.param([NAN, INF] * 40, id="no numbers"),
        pytest.param([1.0] * 50, id="all the same"),
    ],
)
def test_where_nothing_stands_out_nothing_is_clipped(values):
    assert clipping([DrawnLine(values)]) is None


def test_what_is_no_number_is_no_outlier():
    found = clipping([DrawnLine([*CALM, NAN, INF, 900.0])])

    assert found.count == 1


def test_a_logarithmic_axis_is_clipped_in_powers_of_ten():
    found = clipping([DrawnLine([*np.geomspace(1e-3, 1, 300).tolist(), 1e9])], log=True)

    assert found.high == pytest.approx(0, abs=0.5)
    assert found.most == pytest.approx(1e9)


def test_charts_that_are_compared_are_as_high_and_count_their_own():
    wild, calm = DrawnLine([*CALM, 900.0]), DrawnLine(CALM)

    of_wild = clipping([wild], compared=[wild, calm])
    of_calm = clipping([calm], compared=[wild, calm])

    assert (of_wild.low, of_wild.high) == (of_calm.low, of_calm.high)
    assert (of_wild.count, of_calm.count) == (1, 0)
    assert of_wild.note.startswith("Outliers ignored: 1 of 201 points")
    assert of_calm.note == ""
