"""The bars of a ladder."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

from web.figures.ladder import (
    PHASE_COLOURS,
    Bar,
    milliseconds_text,
    part_colours,
    step_time_figure,
)

BASELINE = Bar("baseline", [("data wait", 0.080), ("forward", 0.015), ("other", 0.005)])
FASTER = Bar("decoded", [("data wait", 0.010), ("forward", 0.015), ("backward", 0.02)])


def lengths(trace: dict) -> list[float]:
    return np.frombuffer(base64.b64decode(trace["x"]["bdata"]), "<f8").tolist()


def test_stacks_each_part_of_each_rung_in_milliseconds():
    figure = step_time_figure([BASELINE, FASTER], unit="step")

    drawn = {trace["name"]: lengths(trace) for trace in figure["data"]}
    assert drawn == {
        "waiting for data": pytest.approx([80, 10]),
        "forward": pytest.approx([15, 15]),
        "backward": pytest.approx([0, 20]),
        "everything else": pytest.approx([5, 0]),
    }
    assert figure["layout"]["barmode"] == "stack"


def test_phases_lie_in_the_order_they_happen_between_waiting_and_the_rest():
    parts = [("other", 1.0), ("augment", 1.0), ("backward", 1.0), ("forward", 1.0)]

    colours = part_colours([parts, BASELINE.parts])

    assert [name for name, _ in colours] == [
        "data wait",
        "forward",
        "backward",
        "augment",
        "other",
    ]
    assert len({colour for _, colour in colours}) == len(colours)


def test_a_total_stands_beside_each_bar():
    notes = step_time_figure([BASELINE, FASTER], unit="step")["layout"]["annotations"]

    assert [note["text"] for note in notes] == [
        "0  baseline",
        "100 ms",
        "1  decoded",
        "45.0 ms",
    ]


def test_an_unknown_rung_says_so_and_has_no_bar():
    unknown = Bar("starting", [], unknown="not enough steady steps to judge")

    figure = step_time_figure([BASELINE, unknown], unit="example")

    assert figure["layout"]["annotations"][-1]["text"] == unknown.unknown
    assert all(trace["text"][1] == "" for trace in figure["data"])


def test_where_nothing_is_known_no_axis_pretends_otherwise():
    unknown = Bar("starting", [], unknown="not enough steady steps to judge")

    for bars, is_visible in (([unknown], False), ([BASELINE, unknown], True)):
        figure = step_time_figure(bars, unit="step")
        assert figure["layout"]["xaxis"]["visible"] is is_visible


def test_names_are_drawn_letter_for_letter():
    hostile = '<a href="https://evil.test">%{x}</a>'

    figure = step_time_figure([Bar(hostile, [(hostile, 1.0)])], unit="step")

    assert "<" not in figure["data"][0]["name"]
    assert "<" not in figure["layout"]["annotations"][0]["text"]
    assert "%" not in figure["data"][0]["hovertemplate"].replace(
        "%{x:.3~g}", ""
    ).replace("%{customdata:.0%}", "")


@pytest.mark.parametrize(
    "bars",
    [
        pytest.param([BASELINE, FASTER], id="two rungs"),
        pytest.param([Bar("a", [], unknown="unknown")], id="nothing known"),
        pytest.param([], id="no rungs"),
    ],
)
def test_plotly_accepts_the_figure(bars):
    figure = step_time_figure(bars, unit="example")

    for trace in figure["data"]:
        trace["marker"]["color"] = "red"  # the browser puts in the CSS color
    go.Figure(data=figure["data"], layout=figure["layout"])


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0.0456, "0.046 ms"),
        (1.0, "1.00 ms"),
        (1.234, "1.23 ms"),
        (45.25, "45.2 ms"),
        (1234.5, "1234 ms"),
    ],
)
def test_milliseconds_have_as_many_digits_as_the_clock_is_good_for(milliseconds, text):
    assert milliseconds_text(milliseconds) == text


PAIR = r"(?:light-dark\((#\w{6}), (#\w{6})\)|(#\w{6}));"
LADDER_CSS = Path(__file__).parents[3] / "web/static/web/css/components/ladder.css"
# Contrast of text at level AA of WCAG.
MIN_CONTRAST = 4.5


def colours_of(name: str) -> tuple[str, str]:
    """Return a token's colors in light and dark."""
    found = re.search(rf"--{name}: {PAIR}", LADDER_CSS.read_text())
    assert found, name
    light, dark, both = found.groups()
    return (both, both) if both else (light, dark)


def luminance(colour: str) -> float:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(
        channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
    )
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("part", ["wait", "other", *range(PHASE_COLOURS)])
def test_what_is_written_on_a_part_can_be_read_in_both_themes(part):
    pairs = zip(colours_of(f"part-{part}"), colours_of(f"on-part-{part}"), strict=True)
    for colour, text in pairs:
        dark, light = sorted([luminance(colour), luminance(text)])
        assert (light + 0.05) / (dark + 0.05) >= MIN_CONTRAST


def test_each_part_is_written_on_in_its_own_colour():
    for trace in step_time_figure([BASELINE, FASTER], unit="step")["data"]:
        colour = trace["marker"]["color"]
        assert trace["insidetextfont"]["color"] == colour.replace("--", "--on-")
