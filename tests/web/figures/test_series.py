import numpy as np
import pytest

from tests.web.figures.plotly_schema import DrawnLine, check_schema, numbers
from web.figures.series import NamedLine, series_figure

NAN = float("nan")
PLAIN = DrawnLine([3.0, 2.0, 1.0])
# One bucket of many hides a spike to 900 in its maximum.
SPIKED = DrawnLine([1.0, 1.1, 1.0], band=([0.9, 0.8, 0.9], [1.1, 900.0, 1.2]))


def figure_of(line, name="train/loss", **options):
    return series_figure([NamedLine(line, name)], **options)


@pytest.mark.parametrize("axis", ["step", "time", "relative"])
@pytest.mark.parametrize("line", [PLAIN, SPIKED, DrawnLine([])])
@pytest.mark.parametrize("log", [False, True])
def test_plotly_knows_every_word_of_it(axis, line, log):
    check_schema(figure_of(line, axis=axis, log=log, smoothing=0.5, low=0.0, high=2.0))


def test_a_spike_is_in_what_is_drawn():
    band, line = figure_of(SPIKED)["data"]

    assert numbers(band["y"]).max() == 900
    assert numbers(line["customdata"])[1].tolist() == pytest.approx([0.8, 900])


def test_exact_points_have_no_band():
    (line,) = figure_of(PLAIN)["data"]

    assert numbers(line["y"]).tolist() == [3.0, 2.0, 1.0]


def test_smoothing_keeps_the_raw_line_visible():
    raw, smooth = figure_of(PLAIN, smoothing=0.9)["data"]

    assert numbers(raw["y"]).tolist() == [3.0, 2.0, 1.0]
    assert "transparent" in raw["line"]["color"]
    assert np.ptp(numbers(smooth["y"])) < 2


def test_gaps_are_drawn_as_gaps_and_counted():
    figure = figure_of(DrawnLine([1.0, NAN, float("inf"), 2.0]))

    assert np.isfinite(numbers(figure["data"][0]["y"])).tolist() == [
        True,
        False,
        False,
        True,
    ]
    assert figure["notes"] == ["2 points are NaN or infinite: gaps in the line."]


def test_stretches_without_numbers_are_not_counted_as_points():
    figure = figure_of(DrawnLine([1.0, NAN, NAN], band=([1.0, NAN, NAN],) * 2))

    assert figure["notes"] == ["Some points are NaN or infinite: gaps in the line."]


def test_a_logarithmic_axis_has_gaps_where_all_of_a_stretch_is_below_zero():
    line = DrawnLine(
        [0.55, 0.007, -0.2, -0.7],
        band=([0.5, 0.004, -0.3, -1.0], [0.6, 0.01, -0.1, -0.5]),
    )

    band, mean = figure_of(line, log=True)["data"]

    assert numbers(band["x"]).tolist() == [0, 1, 1, 0]
    assert numbers(band["y"]) == pytest.approx([0.6, 0.01, 0.004, 0.5])
    assert np.isfinite(numbers(mean["y"])).tolist() == [True, True, False, False]


def test_a_logarithmic_axis_lifts_a_band_that_crosses_zero():
    line = DrawnLine([1.0, 1.0], band=([0.5, -2.0], [2.0, 3.0]))

    band, _ = figure_of(line, log=True)["data"]

    assert numbers(band["y"]).tolist() == [2.0, 3.0, 0.5, 0.5]


def test_dates_stand_as_on_the_pages_and_have_room():
    by_step, by_time = (
        figure_of(PLAIN, axis=axis)["layout"] for axis in ("step", "time")
    )

    assert by_time["margin"]["b"] > by_step["margin"]["b"]
    formats = [stop["value"] for stop in by_time["xaxis"]["tickformatstops"]]
    assert "%H:%M\n%-d %b %Y" in formats
    assert by_time["xaxis"]["hoverformat"].startswith("%-d %b %Y")
    assert "tickformatstops" not in by_step["xaxis"]


@pytest.mark.parametrize(("high", "seconds"), [(9e4, "%S"), (9e3, "%S.%L")])
def test_close_up_a_time_has_milliseconds(high, seconds):
    layout = figure_of(PLAIN, axis="time", low=0.0, high=high)["layout"]

    assert layout["xaxis"]["hoverformat"].endswith(seconds)


def test_a_logarithmic_axis_says_what_it_cannot_show():
    figure = figure_of(DrawnLine([0.0, 1.0], band=([-1.0, 0.5], [0.0, 2.0])), log=True)

    assert figure["layout"]["yaxis"]["type"] == "log"
    assert figure["notes"] == [
        "Values of 0 or less have no place on a logarithmic axis."
    ]


def test_says_when_a_range_holds_no_points():
    assert figure_of(DrawnLine([]))["notes"] == ["No points in this range."]


def test_shows_exactly_the_range_asked_for():
    layout = figure_of(PLAIN, low=0.5, high=1.5)["layout"]

    assert layout["xaxis"]["range"] == [0.5, 1.5]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        pytest.param([0.5, 0.5], [0.45, 0.55], id="above zero"),
        pytest.param([-10.0], [-11.0, -9.0], id="below zero"),
        pytest.param([0.0, 0.0], None, id="zero"),
        pytest.param([NAN], None, id="nothing"),
        pytest.param([1.0, 2.0], None, id="not level"),
    ],
)
def test_a_level_line_is_shown_close_up(values, shown):
    axis = figure_of(DrawnLine(values))["layout"]["yaxis"]

    assert axis.get("range") == (None if shown is None else pytest.approx(shown))


def test_names_are_never_part_of_a_template():
    figure = figure_of(PLAIN, name="<a href='https://evil.test'>%{y}</a>")

    (line,) = figure["data"]
    assert line["name"].startswith("&lt;a")
    assert "evil" not in line["hovertemplate"]


def test_runs_keep_the_colour_of_their_position():
    figure = series_figure(
        [NamedLine(PLAIN, "first", 0), NamedLine(PLAIN, "third", 2)], legend=True
    )

    assert [trace["line"]["color"] for trace in figure["data"]] == [
        "var(--run-0)",
        "var(--run-2)",
    ]
    assert [trace["name"] for trace in figure["data"]] == ["first", "third"]
    assert figure["layout"]["showlegend"] is True
