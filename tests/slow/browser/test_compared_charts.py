"""Charts of several runs share hover and zoom, and grow while runs are live."""

from __future__ import annotations

from urllib.parse import unquote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.builders import START, make_project, make_run, write_series, write_values
from tests.slow.browser.conftest import address_now, sign_in
from tests.slow.browser.test_run_page import drag, wait_until
from tracker.actions.dashboards import create_dashboard
from tracker.boards.board import Board, Place, Widget
from tracker.models import State
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The first chart of a page waits for Plotly.
SLOW_MS = 20_000
DRAWN = '.chart[data-drawn="true"]'
BOX = ".chart__box:not([hidden])"
# Per line: the number of Plotly's points, and the end of the line on the axes.
LINES = """() => {
  const plot = document.querySelector(".chart__plot")
  const { xaxis, yaxis } = plot._fullLayout
  return [...plot.querySelectorAll(".scatterlayer > .trace")].map((trace) => {
    const path = trace.querySelector(".js-line")
    const [left, top] = path.getAttribute("d").split(/[ML]/).at(-1).split(",").map(Number)
    const { index } = trace.__data__[0].trace
    return {
      known: plot.data[index].x.length,
      end: [xaxis.p2c(left), yaxis.p2c(top)],
      dashes: path.style.strokeDasharray,
      beyond: left > xaxis._length,
    }
  })
}"""
SETTLE = """() => document.querySelector(".chart").dispatchEvent(new PointerEvent("pointerenter"))"""
REFRESH = """() => document.querySelector(".chart").dispatchEvent(new CustomEvent("chart-refresh"))"""
SHOWN = """() => [...document.querySelectorAll(".chart[data-drawn] .chart__plot")].map(
  (plot) => plot._fullLayout.xaxis.range)"""


@pytest.fixture
def project(ada):
    return make_project(ada)


def log(run, path: str, first: int, count: int, height: float = 1.0) -> None:
    steps = np.arange(first, first + count)
    values = height + np.sin(steps / 50) / 10
    write_series(run, path, values, steps=steps, times=START + steps * 1_000)


def logged(project, name: str, *, count: int = 300, height: float = 1.0, **made):
    run = make_run(project, name, **made)
    for path in ("train/loss", "val/loss"):
        log(run, path, 0, count, height)
    return run


def compared(*runs, query: str = "") -> str:
    ids = ",".join(str(run.id) for run in runs)
    return f"/w/ada-workspace/vision/compare?runs={ids}{query}"


def board_of(project, ada, *, widgets: int = 2) -> str:
    made = tuple(
        Widget(
            id=str(place) * 8,
            kind="chart",
            place=Place(0, place * 4, 6, 4),
            title=path,
            settings={"metrics": [path]},
        )
        for place, path in enumerate(("train/loss", "val/loss")[:widgets])
    )
    board = create_dashboard(project, "both", Board(widgets=made), user_id=ada.user_id)
    return f"/dashboards/{board.id}/"


def wait_for_charts(page: Page, count: int) -> None:
    expect(page.locator(DRAWN)).to_have_count(count, timeout=SLOW_MS)


def chart_of(page: Page, path: str) -> Locator:
    plot = page.get_by_role("group", name=f"Chart of {path}")
    return page.locator(".chart").filter(has=plot)


def point_at(page: Page, chart: Locator, across: float, down: float = 0.5) -> None:
    """Move the pointer to a place of the plot, as shares of its width and height."""
    chart.scroll_into_view_if_needed()
    area = chart.locator(".nsewdrag").bounding_box()
    assert area
    page.mouse.move(
        area["x"] + area["width"] * across, area["y"] + area["height"] * down
    )


def test_all_charts_of_a_window_are_sketched_before_one_is_drawn(
    page, watch, live_server, ada, project
):
    runs = [logged(project, name, state=State.FINISHED) for name in ("low", "high")]
    for run in runs:
        for number in range(14):
            log(run, f"more/{number:02}", 0, 50)
    page.set_viewport_size({"width": 1440, "height": 2_400})
    held, asked = [], []

    def hold(route):
        held.append(route)

    page.route("**/plotly-*.js", hold, times=1)
    page.on("request", lambda one: "/compare/figure" in one.url and asked.append(one))
    sign_in(page.context, live_server.url, ada)
    # The page has not loaded as long as it waits for Plotly.
    page.goto(f"{live_server.url}{compared(*runs)}", wait_until="commit")

    expect(page.locator(".chart__sketch")).to_have_count(16, timeout=SLOW_MS)
    assert len(asked) == 2
    [route] = held
    route.continue_()
    wait_for_charts(page, 16)
    expect(page.locator(".chart__sketch")).to_have_count(0)


@pytest.mark.parametrize("where", ["compare", "beside", "board"])
def test_lines_of_runs_are_read_together_on_all_charts(visit, ada, project, where):
    low = logged(project, "low", height=1.0, state=State.FINISHED)
    high = logged(project, "<b>high</b>", height=2.0, state=State.FINISHED)
    address = {
        "compare": compared(low, high),
        "beside": "/w/ada-workspace/vision/?as=charts",
        "board": board_of(project, ada),
    }[where]
    page = visit(address, ada)
    wait_for_charts(page, 2)
    chart, other = chart_of(page, "train/loss"), chart_of(page, "val/loss")

    point_at(page, chart, 0.5, 0.05)
    rows = chart.locator(f"{BOX} .chart__row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("<b>high</b>")
    point_at(page, chart, 0.5, 0.95)
    expect(rows.first).to_contain_text("low")
    expect(chart.locator(".hoverlayer")).to_have_text("")

    # The same position on the other chart, with the same line's value there.
    place = chart.locator(f"{BOX} .chart__place").text_content() or ""
    message = other.locator(".chart__reading")
    expect(other.locator(".chart__cursor")).to_be_visible()
    expect(message).to_have_text(
        f"{1 + np.sin(float(place.split()[-1]) / 50) / 10:.4g}"
    )
    # Its drawn line.
    drawn = {
        trace.get_attribute("stroke")
        for trace in chart.locator(".chart__stroke path").all()
    }
    assert drawn == {"var(--run-0)", "var(--run-1)"}
    page.mouse.move(2, 2)
    expect(other.locator(".chart__cursor")).to_be_hidden()


def test_of_many_lines_the_nearest_are_listed_as_they_are_dashed(visit, ada, project):
    runs = [
        logged(project, f"run {n:02}", height=n, count=20 if n == 13 else 100)
        for n in range(15)
    ]
    page = visit(compared(*runs, query="&text=train"), ada)
    wait_for_charts(page, 1)
    chart = chart_of(page, "train/loss")

    # Runs are from the bottom to the top; the pointer is at the highest.
    point_at(page, chart, 0.8, 0.05)
    rows = chart.locator(f"{BOX} .chart__row")
    expect(rows).to_have_count(12)
    expect(rows.first).to_contain_text("run 14")
    # A line that ended long before is not listed.
    expect(rows.nth(1)).to_contain_text("run 12")
    expect(chart.locator(BOX)).to_contain_text("and 2 more")
    expect(chart.locator(BOX)).not_to_contain_text("at step")
    stroke = rows.first.locator(".chart__stroke path")
    expect(stroke).to_have_attribute("stroke", "var(--run-4)")
    expect(stroke).to_have_attribute("stroke-dasharray", "6,6")
    expect(page.locator(".compare-run--lit")).to_contain_text("run 14")
    expect(chart.locator(".trace.chart__lit")).to_have_count(1)


def test_a_line_that_the_legend_hides_is_not_read(visit, ada, project):
    runs = [logged(project, name, height=n) for n, name in enumerate("ab")]
    for run in runs:
        write_values(run, {"params/kind": f"kind {run.name}"})
    page = visit(compared(*runs, query="&together=params/kind&text=train"), ada)
    wait_for_charts(page, 1)
    chart = chart_of(page, "train/loss")
    traces = chart.locator(".scatterlayer > .trace")
    expect(traces).to_have_count(2)

    chart.locator(".legendtoggle").first.click()
    expect(traces).to_have_count(1)
    point_at(page, chart, 0.5)

    expect(chart.locator(".chart__row")).to_have_count(1)
    expect(chart.locator(".chart__box")).to_contain_text("kind b")


def test_a_zoom_is_one_for_all_compared_charts_and_in_the_address(visit, ada, project):
    runs = [logged(project, name, state=State.FINISHED) for name in "abc"]
    page = visit(compared(*runs), ada)
    wait_for_charts(page, 2)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    drag(page, chart_of(page, "train/loss"), 0.25, 0.5)
    reset = page.get_by_role("button", name="Reset zoom")
    expect(reset).to_be_visible()
    wait_until(page, lambda: len(zoomed(page)) == 1)
    [shown] = zoomed(page)
    assert 50 < shown[0] < 100 < shown[1] < 200
    assert {"train", "val"} <= {
        path
        for path in ("train", "val")
        for url in asked
        if f"path={path}" in unquote(url) and "low=" in url
    }

    # A link shows the same, and so do other links to this page.
    page.reload()
    wait_for_charts(page, 2)
    assert zoomed(page) == [shown]
    page.get_by_role("slider", name="Smoothing").fill("0.6")
    page.wait_for_url("**smoothing=0.6**")
    assert f"low={shown[0]:g}"[:6] in address_now(page)
    drag(page, chart_of(page, "val/loss"), 0.1, 0.9)
    wait_until(page, lambda: zoomed(page) != [shown] and len(zoomed(page)) == 1)
    [closer] = zoomed(page)
    page.get_by_role("button", name="Options of c", exact=True).click()
    page.get_by_role("menuitem", name="Remove").click()
    page.wait_for_url(lambda url: str(runs[2].id) not in url)
    wait_for_charts(page, 2)
    assert zoomed(page) == [pytest.approx(closer)]

    reset.click()
    expect(reset).to_be_hidden()
    wait_until(
        page, lambda: [low for low, _ in zoomed(page)] == [pytest.approx(0, abs=1)]
    )
    assert "low=" not in address_now(page)
    page.get_by_role("link", name="Side by side").click()
    page.wait_for_url("**tab=table**")
    assert "low=" not in address_now(page)


def zoomed(page: Page) -> list[list[float]]:
    """The parts of the axis that charts show, each once."""
    return [list(part) for part in {tuple(each) for each in page.evaluate(SHOWN)}]


def test_beside_the_runs_a_zoom_lasts_until_the_axis_is_another(visit, ada, project):
    for name in "ab":
        logged(project, name, state=State.FINISHED)
    page = visit("/w/ada-workspace/vision/?as=charts", ada)
    wait_for_charts(page, 2)
    reset = page.get_by_role("button", name="Reset zoom")
    expect(reset).to_be_hidden()

    drag(page, chart_of(page, "train/loss"), 0.25, 0.5)
    expect(reset).to_be_visible()
    wait_until(page, lambda: len(zoomed(page)) == 1)
    [shown] = zoomed(page)
    assert 50 < shown[0] < 100
    page.reload()
    wait_for_charts(page, 2)
    assert zoomed(page) == [pytest.approx(shown)]
    expect(reset).to_be_visible()

    # New and removed runs do not change it.
    page.get_by_label("Filter by name or tag").fill("a")
    expect(page.get_by_text("1 of 1 run shown")).to_be_visible(timeout=SLOW_MS)
    expect(chart_of(page, "train/loss").locator(".js-line")).to_have_count(1)
    assert zoomed(page) == [pytest.approx(shown)]

    page.get_by_role("button", name="Relative time").click()
    expect(reset).to_be_hidden()
    assert "low=" not in address_now(page)
    page.get_by_role("button", name="Step", exact=True).click()
    expect(page.locator(".xtitle").first).to_have_text("step")
    wait_until(page, lambda: len(zoomed(page)) == 1 and zoomed(page)[0][1] > 290)


@pytest.mark.parametrize("where", ["compare", "board"])
def test_a_line_grows_where_a_whole_one_would_be_drawn(visit, ada, project, where):
    ended = logged(project, "ended", height=2.0, state=State.FINISHED)
    live = logged(project, "live", count=250)
    compact_run(ended.id)
    address = (
        compared(ended, live, query="&text=train")
        if where == "compare"
        else board_of(project, ada, widgets=1)
    )
    page = visit(address, ada)
    wait_for_charts(page, 1)
    place = [line["known"] for line in page.evaluate(LINES)].index(250)

    log(live, "train/loss", 250, 10)
    page.evaluate(REFRESH)
    wait_until(page, lambda: page.evaluate(LINES)[place]["end"][0] > 258)
    grown = page.evaluate(LINES)
    assert sorted(line["known"] for line in grown) == [250, 300]

    # After hovering, Plotly has all points too, and draws the same.
    page.evaluate(SETTLE)
    wait_until(page, lambda: page.evaluate(LINES)[place]["known"] == 260)
    settled = page.evaluate(LINES)
    for one, other in zip(grown, settled, strict=True):
        assert one["end"] == pytest.approx(other["end"], abs=0.6)
        assert (one["dashes"], one["beyond"]) == (other["dashes"], False)


def test_a_line_grows_away_from_the_steps_it_had_in_common_with_others(
    visit, ada, project
):
    ended = logged(project, "ended", count=250, height=2.0, state=State.FINISHED)
    live = logged(project, "live", count=250)
    compact_run(ended.id)
    page = visit(compared(ended, live, query="&text=train"), ada)
    wait_for_charts(page, 1)

    for first in (250, 255):
        log(live, "train/loss", first, 5)
        page.evaluate(REFRESH)
        wait_until(
            page,
            lambda last=first + 4: (
                max(line["end"][0] for line in page.evaluate(LINES)) > last - 0.5
            ),
        )

    # The append was drawn without Plotly, which redraws all lines.
    assert [line["known"] for line in page.evaluate(LINES)] == [250, 250]
    ends = sorted(line["end"][0] for line in page.evaluate(LINES))
    assert ends == pytest.approx([249, 259], abs=0.6)


def test_a_board_s_charts_are_zoomed_each_by_itself(visit, ada, project):
    logged(project, "a", state=State.FINISHED)
    page = visit(board_of(project, ada), ada)
    wait_for_charts(page, 2)

    with page.expect_request(lambda request: "low=" in request.url):
        drag(page, chart_of(page, "train/loss"), 0.25, 0.5)

    wait_until(page, lambda: len(zoomed(page)) == 2)
    chart_of(page, "train/loss").locator(".nsewdrag").dblclick()
    wait_until(page, lambda: len(zoomed(page)) == 1)


def test_a_legend_stays_above_its_lines_when_the_window_grows(visit, ada, project):
    runs = [logged(project, name, count=9) for name in ("one", "two", "three")]
    for run, kind in zip(runs, ["momentum", "adaptive", "second order"], strict=True):
        write_values(run, {"params/kind": kind})
    page = visit(compared(*runs, query="&together=params/kind"), ada)
    page.set_viewport_size({"width": 390, "height": 800})

    def legend() -> dict[str, float]:
        return page.locator(".legend").first.bounding_box()

    # One row is 24 pixels high.
    wait_until(page, lambda: legend()["height"] > 30)
    page.set_viewport_size({"width": 1400, "height": 800})

    wait_until(page, lambda: legend()["height"] < 30)
    lines = page.locator(".nsewdrag").first
    wait_until(
        page,
        lambda: legend()["y"] + legend()["height"] <= lines.bounding_box()["y"] + 1,
    )
