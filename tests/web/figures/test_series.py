import numpy as np
import pytest

from tests.web.figures.plotly_schema import DrawnLine, check_schema, numbers
from web.figures.series import NamedLine, series_figure
from web.figures.smoothing import Smoothing

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
    check_schema(
        figure_of(line, axis=axis, log=log, smoothing=Smoothing(0.5), low=0.0, high=2.0)
    )


@pytest.mark.parametrize(
    ("values", "written"),
    [([0.0, 3e-4, 1e-4], "~e"), ([0.0, 0.3, 0.1], None), ([0.0], None), ([NAN], None)],
    ids=["learning rate", "loss", "zero", "nothing"],
)
def test_small_values_have_exponents(values, written):
    figure = figure_of(DrawnLine(values))

    assert figure["layout"]["yaxis"].get("tickformat") == written


def test_a_spike_is_in_what_is_drawn():
    figure = figure_of(SPIKED)

    band, _ = figure["data"]
    (read,) = figure["lines"]
    assert numbers(band["y"]).max() == 900
    assert numbers(read["low"])[1] == pytest.approx(0.8)
    assert numbers(read["high"])[1] == 900


def test_a_line_without_its_band_still_says_what_it_summarizes():
    figure = figure_of(SPIKED, has_bands=False)

    (line,), (read,) = figure["data"], figure["lines"]
    assert "fill" not in line
    assert numbers(read["high"])[1] == 900


@pytest.mark.parametrize("smoothing", [0.0, 0.6])
def test_says_of_each_line_how_it_looks_and_which_traces_are_its(smoothing):
    lines = [
        NamedLine(SPIKED, "a", 3, dash="dot"),
        NamedLine(PLAIN, "b", 14, colour="var(--run-5)"),
    ]
    figure = series_figure(lines, smoothing=Smoothing(smoothing))

    traces = figure["data"]
    looks = [(read["name"], read["colour"], read["dash"]) for read in figure["lines"]]
    assert looks == [("a", "var(--run-3)", "dot"), ("b", "var(--run-5)", "solid")]
    for read, line in zip(figure["lines"], (SPIKED, PLAIN), strict=True):
        assert numbers(traces[read["trace"]]["y"]) == pytest.approx(line.mean)
        own = [traces[read[name]] for name in ("trace", "smooth") if name in read]
        assert [trace["line"]["dash"] for trace in own] == [read["dash"]] * len(own)
        assert len(own) == 1 + (smoothing > 0)


def test_the_page_reads_it_and_plotly_is_silent():
    figure = figure_of(SPIKED, axis="time")

    assert figure["axis"] == "time"
    assert figure["layout"]["hovermode"] is False
    assert figure["layout"]["xaxis"]["showspikes"] is False
    assert not any("hovertemplate" in trace for trace in figure["data"])


def test_in_a_legend_a_line_and_its_band_are_one():
    lines = [NamedLine(SPIKED, "a", 0), NamedLine(SPIKED, "b", 0)]

    def groups(**look):
        return [
            trace.get("legendgroup") for trace in series_figure(lines, **look)["data"]
        ]

    assert groups(legend=True) == ["0", "0", "1", "1"]
    assert groups() == [None] * 4


def test_exact_points_have_no_band():
    (line,) = figure_of(PLAIN)["data"]

    assert numbers(line["y"]).tolist() == [3.0, 2.0, 1.0]


def test_smoothing_keeps_the_raw_line_visible():
    raw, smooth = figure_of(PLAIN, smoothing=Smoothing(0.9))["data"]

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
    assert figure["notes"] == ["2 NaN or infinite points are shown as gaps."]


def test_values_that_overflow_an_axis_are_gaps():
    figure = figure_of(DrawnLine([1.0, 1e308, -1e308, 2.0]))

    assert numbers(figure["data"][0]["y"])[[0, 3]].tolist() == [1.0, 2.0]
    assert np.isnan(numbers(figure["data"][0]["y"])[[1, 2]]).all()
    assert figure["notes"] == ["2 NaN or infinite points are shown as gaps."]


def test_values_that_underflow_an_axis_are_zero():
    figure = figure_of(DrawnLine([0.0, 5e-324, -1e-310, 1e-290]))

    assert numbers(figure["data"][0]["y"]).tolist() == [0.0, 0.0, 0.0, 1e-290]


def test_stretches_without_numbers_are_not_counted_as_points():
    figure = figure_of(DrawnLine([1.0, NAN, NAN], band=([1.0, NAN, NAN],) * 2))

    assert figure["notes"] == ["NaN and infinite points are shown as gaps."]


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


def test_dates_have_room_below_an_axis_of_time():
    by_step, by_time = (
        figure_of(PLAIN, axis=axis)["layout"] for axis in ("step", "time")
    )

    assert by_time["margin"]["b"] > by_step["margin"]["b"]


def test_a_logarithmic_axis_says_what_it_cannot_show():
    figure = figure_of(DrawnLine([0.0, 1.0], band=([-1.0, 0.5], [0.0, 2.0])), log=True)

    assert figure["layout"]["yaxis"]["type"] == "log"
    assert figure["notes"] == [
        "Values at or below 0 are not shown on a logarithmic axis."
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


def test_names_are_text_to_plotly_and_as_they_are_to_the_page():
    name = "<a href='https://evil.test'>%{y}</a>"
    figure = figure_of(PLAIN, name=name)

    (line,), (read,) = figure["data"], figure["lines"]
    assert line["name"].startswith("&lt;a")
    assert read["name"] == name


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
