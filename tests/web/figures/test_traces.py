import numpy as np
import pytest

from tests.web.figures.plotly_schema import numbers
from web.figures.traces import band_trace, compact, line_trace, run_colour, typed


@pytest.mark.parametrize(
    ("array", "code"),
    [
        pytest.param(np.array([1, 2], np.int64), "i4", id="small integers"),
        pytest.param(np.array([2**53, 1], np.int64), "f8", id="large integers"),
        pytest.param(np.array([0.5], np.float32), "f4", id="float32"),
        pytest.param(np.array([0.1], np.float64), "f8", id="float64"),
        pytest.param(np.array([], np.float64), "f8", id="empty"),
        pytest.param(np.array([1.5], ">f8"), "f8", id="other byte order"),
    ],
)
def test_numbers_arrive_as_they_are(array, code):
    encoded = typed(array)

    assert encoded["dtype"] == code
    assert numbers(encoded).tolist() == array.tolist()


@pytest.mark.parametrize(
    ("values", "code"),
    [
        pytest.param([0.5, 0.25, float("nan")], "f4", id="a loss"),
        pytest.param([1e300, 1.0], "f8", id="beyond float32"),
        pytest.param([1e-300, 1.0], "f8", id="below float32"),
        pytest.param([1e9, 1e9 + 0.25], "f8", id="a narrow range far from zero"),
        pytest.param([1.7e308, -1.7e308], "f8", id="a range beyond float64"),
        pytest.param([7.0, 7.0], "f4", id="flat"),
        pytest.param([float("nan")], "f4", id="nothing but NaN"),
        pytest.param([0.0], "f4", id="zero"),
    ],
)
def test_halves_the_bytes_only_where_no_eye_can_tell(values, code):
    assert compact(np.array(values))["dtype"] == code


def test_columns_keep_their_shape():
    pairs = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    assert numbers(compact(pairs)).tolist() == pairs.tolist()


def test_what_is_not_finite_is_a_gap():
    values = np.array([1.0, np.nan, np.inf, -np.inf, 2.0])

    drawn = numbers(
        line_trace(np.arange(5.0), values, name="loss", colour="var(--run-0)")["y"]
    )

    assert np.isfinite(drawn).tolist() == [True, False, False, False, True]


def test_a_gap_parts_the_band_in_two():
    x = np.arange(5.0)
    low = np.array([1.0, 1.0, np.nan, 2.0, 2.0])

    band = band_trace(x, low, low + 1, colour=run_colour(0))

    outline_x, outline_y = numbers(band["x"]), numbers(band["y"])
    assert np.flatnonzero(np.isnan(outline_y)).tolist() == [4]
    assert outline_x[:4].tolist() == [0.0, 1.0, 1.0, 0.0]
    assert outline_y[5:].tolist() == [3.0, 3.0, 2.0, 2.0]


def test_a_band_without_a_known_point_is_empty():
    nothing = np.full(3, np.nan)

    band = band_trace(np.arange(3.0), nothing, nothing, colour=run_colour(0))

    assert numbers(band["x"]).size == 0


def test_colours_of_runs_repeat():
    assert run_colour(0) == run_colour(10) == "var(--run-0)"
