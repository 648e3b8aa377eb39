"""A chart's lines before Plotly has drawn them: in the very places where it will."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run, points_message, write
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import sign_in
from tests.web.figures.plotly_schema import numbers
from tests.web.sample_run import settle
from web.figures.series import NamedLine, series_figure
from web.figures.smoothing import Smoothing

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Draws figures with both, in boxes of one size. Returns the visible texts with their
# positions, and the extent of the lines.
BOTH = """async ([figures, width, height]) => {
  const { sketched } = await import("/static/web/js/charts/sketch.js")
  const { CONFIG, loadPlotly } = await import("/static/web/js/charts/plotly.js")
  const { themed } = await import("/static/web/js/charts/colours.js")
  const both = async (figure) => {
    for (const trace of figure.data) {
      for (const name of ["x", "y"]) {
        trace[name] = Float64Array.from(trace[name], (value) => value ?? NaN)
      }
    }
    const boxes = [0, 1].map(() => {
      const box = document.createElement("div")
      Object.assign(box.style, { position: "absolute", top: 0, left: 0, width: `${width}px`, height: `${height}px` })
      document.body.append(box)
      return box
    })
    const image = sketched(figure, boxes[0].getBoundingClientRect())
    if (!image) return null
    boxes[0].append(image)
    const { data, layout } = themed(figure)
    const plotly = await loadPlotly()
    await plotly.newPlot(boxes[1], data, layout, CONFIG)
    const words = (box, which) => [...box.querySelectorAll(which)].map((word) => {
      const { x, y, width } = word.getBoundingClientRect()
      return [word.textContent, x, y, width]
    }).sort()
    // Plotly makes a path of each stretch between gaps.
    const reach = (box, which) => {
      const parts = [...box.querySelectorAll(which)].map((line) => line.getBoundingClientRect())
      const end = (pick, name) => pick(...parts.map((part) => part[name]))
      return [end(Math.min, "left"), end(Math.min, "top"), end(Math.max, "right"), end(Math.max, "bottom")]
    }
    const said = boxes.map((box, place) => words(box, place ? ".xtick text, .ytick text, .xtitle" : "text"))
    const drawn = boxes.map((box, place) => reach(box, place ? ".js-line" : "g > path[fill=none]"))
    boxes.forEach((box) => box.remove())
    return { said, drawn }
  }
  const found = {}
  for (const [name, figure] of Object.entries(figures)) found[name] = await both(figure)
  return found
}"""
# Half of the smallest visible distance.
NEAR_PIXELS = 0.5


def line(values, *, x=None, spread=None, name="loss", position=0, **more):
    values = np.asarray(values, float)
    x = np.arange(len(values), dtype=float) if x is None else np.asarray(x, float)
    low, high = (
        (values, values) if spread is None else (values - spread, values + spread)
    )
    found = SimpleNamespace(
        path=name, x=x, mean=values, minimum=low, maximum=high, exact=spread is None
    )
    return NamedLine(found, name, position, **more)


def figure_of(*lines, **look):
    figure = series_figure(lines, **look)
    for trace in figure["data"]:
        for name in ("x", "y"):
            values = numbers(trace[name]).tolist()
            trace[name] = [None if np.isnan(value) else value for value in values]
        trace.pop("customdata", None)
    places = [n for n, trace in enumerate(figure["data"]) if "fill" not in trace]
    return {**figure, "lines": [{"trace": place} for place in places]}


STEPS = np.arange(300.0)
WAVE = np.sin(STEPS / 20)
FALL = 2 * np.exp(-STEPS / 60)
GAPS = np.where((STEPS > 100) & (STEPS < 140), np.nan, WAVE)
NOON = 1_790_000_000_000.0
FIGURES = {
    "a wave": figure_of(line(WAVE)),
    "a band": figure_of(line(FALL, spread=0.3)),
    "a gap": figure_of(line(GAPS, spread=0.1)),
    "smooth": figure_of(line(WAVE + FALL), smoothing=Smoothing(0.9)),
    "few points": figure_of(line([3, 1, 4, 1, 5, 9, 2, 6])),
    "few and many": figure_of(line([5, -5], x=[0, 900]), line(WAVE, position=1)),
    "dashes": figure_of(line(WAVE, dash="dash"), line(FALL, dash="longdashdot")),
    "thousands": figure_of(line(WAVE * 40_000, x=STEPS * 1_000)),
    "thousands and little": figure_of(line(5_000 + WAVE, x=STEPS + 2_000)),
    "billions": figure_of(line(3e9 + WAVE * 1e9, x=STEPS * 1e8)),
    "billions and little": figure_of(line(WAVE, x=1e9 + STEPS * 30)),
    "millionths": figure_of(line(WAVE * 3e-6, x=STEPS / 1_000)),
    "negative": figure_of(line(-70 - FALL, x=STEPS - 100)),
    "close": figure_of(line(1 + WAVE * 2e-3)),
    "very close": figure_of(line(12_345 + WAVE * 2e-3)),
    "level": figure_of(line(np.full(300, 7.0))),
    "nothing but 0": figure_of(line(np.zeros(300))),
    "a range": figure_of(line(WAVE), low=40, high=60),
    "seconds": figure_of(line(WAVE, x=STEPS * 37), axis="relative"),
}
# Drawn in place; Plotly abbreviates some ticks.
WITHOUT_TICKS = {
    "time": figure_of(line(WAVE, x=NOON + STEPS * 60_000), axis="time"),
}
LEFT_TO_PLOTLY = {
    "logarithmic": figure_of(line(FALL), log=True),
    "beyond prefixes": figure_of(line(WAVE * 1e30)),
    "nothing": figure_of(line([])),
    "a legend": figure_of(line(WAVE), legend=True),
}


def is_near(some, others):
    return len(some) == len(others) and np.allclose(some, others, atol=NEAR_PIXELS)


@pytest.fixture(params=[(434, 220), (317.6, 150), (1_180, 640)])
def size(request):
    return request.param


@pytest.fixture
def chart_page(visit, ada):
    """A page without charts on which Plotly may set styles."""
    run = make_run(make_project(ada))
    return visit(f"/runs/{run.id}/charts", ada)


def test_a_sketch_lies_where_plotly_draws(chart_page, size):
    shown = chart_page.evaluate(BOTH, [FIGURES, *size])

    for name, found in shown.items():
        sketch, plotly = found["said"]
        assert [word[0] for word in sketch] == [word[0] for word in plotly], name
        places = [[word[1:] for word in words] for words in (sketch, plotly)]
        assert is_near(*places), (name, *places)
        # Plotly drops invisible parts outside a fixed range.
        is_cut = "range" in FIGURES[name]["layout"]["xaxis"]
        assert is_cut or is_near(*found["drawn"]), (name, found["drawn"])


def test_ticks_of_other_rules_are_left_to_plotly(chart_page, size):
    shown = chart_page.evaluate(BOTH, [WITHOUT_TICKS, *size])

    for name, found in shown.items():
        sketch, plotly = ({word for word, *_ in words} for words in found["said"])
        assert sketch < plotly, name
        assert is_near(*found["drawn"]), (name, found["drawn"])


def test_what_it_cannot_draw_alike_is_left_to_plotly(chart_page):
    shown = chart_page.evaluate(BOTH, [LEFT_TO_PLOTLY, 434, 220])

    assert shown == dict.fromkeys(LEFT_TO_PLOTLY)


def test_lines_are_seen_before_plotly_is_there_and_are_one_chart(
    ada, page, watch, live_server
):
    run = make_run(make_project(ada), state="finished")
    write(run, [points_message(f"train/{n}", WAVE) for n in range(3)])
    settle(run)
    held = []

    def hold(route):
        held.append(route)

    # Simulates a slow connection; released below.
    page.route(lambda url: "/plotly-cartesian" in url, hold)
    sign_in(page.context, live_server.url, ada)
    page.goto(f"{live_server.url}/runs/{run.id}/charts", wait_until="commit")

    sketches = page.locator(".chart[data-sketched] .chart__sketch")
    expect(sketches).to_have_count(3)
    expect(page.get_by_role("group", name="Chart of train/0")).to_have_count(1)
    assert sketches.first.get_attribute("aria-hidden") == "true"
    assert violations(page) == []
    for route in held:
        route.continue_()
    expect(page.locator(".chart[data-drawn]")).to_have_count(3)
    expect(page.locator(".chart__sketch, [data-sketched]")).to_have_count(0)
