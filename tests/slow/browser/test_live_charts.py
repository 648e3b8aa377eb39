"""Charts of a running run: they request new points only, and show all points."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone
from playwright.sync_api import expect

from tests.builders import START, make_project, make_run, write_series
from tests.slow.browser.test_run_page import (
    DRAWN,
    chart_query,
    is_figure,
    query_of,
    wait_until,
)
from tests.slow.browser.test_run_page import POLLS_MS as WAIT_MS
from tests.web.figures.plotly_schema import numbers
from tracker.models import Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SPIKE = 1_234.5
# Plotly's data, and the upper end of its vertical axis.
SHOWN = """() => {
  const plot = document.querySelector(".chart__plot")
  return {
    lines: plot.data.map(({ x, y }) => [Array.from(x), Array.from(y)]),
    highest: plot._fullLayout.yaxis.range[1],
  }
}"""
# The end of the line on the screen, as shares of the axes.
END = """() => {
  const plot = document.querySelector(".chart__plot")
  const { xaxis, yaxis } = plot._fullLayout
  const path = [...plot.querySelectorAll(".js-line")].at(-1).getAttribute("d")
  const [left, top] = path.split(/[ML]/).at(-1).split(",").map(Number)
  return { x: xaxis.p2c(left), y: yaxis.p2c(top), beyond: left > xaxis._length }
}"""
# The line's dots as shares of the axes, and the number that Plotly has.
DOTS = """() => {
  const plot = document.querySelector(".chart__plot")
  const { xaxis } = plot._fullLayout
  const dots = [...plot.querySelectorAll(".point")].filter((dot) => dot.checkVisibility())
  return {
    steps: dots.map((dot) => Math.round(xaxis.p2c(Number(dot.getAttribute("transform").match(/-?[\\d.]+/)[0])))),
    known: dots.filter((dot) => dot.__data__).length,
  }
}"""
HEIGHT = """() => document.querySelector(".chart__plot")._fullLayout.yaxis.range"""
ROOM = "() => document.querySelector('.chart__plot')._fullLayout.xaxis.range[1]"
# As soon as the dot of a step is seen: Plotly draws it, too, a moment later.
DOTS_WITH = f"""async (step) => {{
  const dots = {DOTS}
  const end = performance.now() + 20_000
  while (!dots().steps.includes(step) && performance.now() < end) {{
    await new Promise(requestAnimationFrame)
  }}
  return dots()
}}"""
SETTLE = """() => document.querySelector(".chart").dispatchEvent(new PointerEvent("pointerenter"))"""


@pytest.fixture
def run(ada):
    return make_run(make_project(ada))


def log(run, first, count, *, spike=None):
    values = np.sin(np.arange(first, first + count) / 50)
    if spike is not None:
        values[spike] = SPIKE
    steps = np.arange(first, first + count)
    write_series(run, "train/loss", values, steps=steps, times=START + steps * 1_000)


def refresh(page):
    """Poll now, as the page does every few seconds."""
    page.evaluate(
        """() => document.querySelector(".chart")
             .dispatchEvent(new CustomEvent("chart-refresh"))"""
    )


def whole(page, run):
    """Return the lines that a client without a cache receives."""
    address = f"/runs/{run.id}/figures/series?path=train/loss"
    answer = page.request.get(
        page.url.partition("/runs/")[0] + address,
        headers={"Accept": "application/json"},
    )
    return answer.json()["data"]


@pytest.mark.parametrize("count", [300, 5_000])
def test_only_what_is_new_is_fetched_and_all_of_it_is_shown(
    visit, ada, page, run, count
):
    log(run, 0, count)
    with page.expect_response(is_figure) as first:
        visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    log(run, count, 40, spike=20)
    # The page may have polled just before the data arrived.
    with page.expect_response(lambda r: is_figure(r) and r.status == 200) as second:
        refresh(page)
    wait_until(page, lambda: page.evaluate(SHOWN)["highest"] >= SPIKE)
    after = page.evaluate(SHOWN)

    assert chart_query(first.value).get("since") is None
    assert chart_query(second.value)["since"] != [""]
    assert len(second.value.body()) < len(first.value.body()) / 2
    # No point is lost or drawn twice, however they came.
    for (x, y), trace in zip(after["lines"], whole(page, run), strict=True):
        np.testing.assert_array_equal(np.array(x, float), numbers(trace["x"]))
        np.testing.assert_array_equal(np.array(y, float), numbers(trace["y"]))


def test_nothing_new_is_an_empty_answer_and_the_chart_stays(visit, ada, page, run):
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()
    before = page.evaluate(SHOWN)

    with page.expect_response(is_figure) as again:
        refresh(page)

    assert again.value.status == 304
    assert page.evaluate(SHOWN) == before


def test_points_that_come_late_are_put_in_their_place(visit, ada, page, run):
    log(run, 100, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    log(run, 0, 50, spike=10)
    with page.expect_response(is_figure):
        refresh(page)
    wait_until(page, lambda: page.evaluate(SHOWN)["highest"] >= SPIKE)

    assert page.evaluate(SHOWN)["lines"][0][0] == [*range(50), *range(100, 400)]


def test_a_young_run_has_room_for_minutes_from_the_first(visit, ada, page, run):
    log(run, 0, 300)
    began = timezone.now() - timedelta(minutes=5)
    Run.objects.filter(id=run.id).update(started_at=began, active_since=began)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    # It was never seen to grow; a fifth is the most that is kept free.
    assert page.evaluate(ROOM) > 355


def test_a_grown_line_is_drawn_where_a_whole_one_would_be(visit, ada, page, run):
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()
    # The axis leaves room for further points.
    assert 310 < page.evaluate(ROOM) < 330

    log(run, 300, 10)
    refresh(page)
    wait_until(page, lambda: page.evaluate(END)["x"] > 305)
    grown = page.evaluate(END)
    assert not grown["beyond"]
    assert len(page.evaluate(SHOWN)["lines"][0][0]) == 300

    # After hovering, Plotly has all points too, and draws the same.
    page.evaluate(SETTLE)
    wait_until(page, lambda: len(page.evaluate(SHOWN)["lines"][0][0]) == 310)
    settled = page.evaluate(END)
    assert abs(settled["x"] - grown["x"]) < 1
    assert abs(settled["y"] - grown["y"]) < 0.02


def test_a_line_that_outgrows_its_axes_gets_new_ones(visit, ada, page, run):
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    log(run, 300, 300)
    refresh(page)

    wait_until(page, lambda: len(page.evaluate(SHOWN)["lines"][0][0]) == 600)
    assert not page.evaluate(END)["beyond"]


def test_a_line_gets_more_room_before_it_needs_it(visit, ada, page, run):
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    # More than half of the room that it has, and not all of it.
    log(run, 300, 15)
    refresh(page)
    wait_until(page, lambda: len(page.evaluate(SHOWN)["lines"][0][0]) == 315)


def test_points_of_a_short_line_have_their_dots_as_they_come(visit, ada, page, run):
    log(run, 0, 30)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()
    assert page.evaluate(DOTS) == {"steps": [*range(30)], "known": 30}

    # One after a gap has no line, only its dot.
    steps = np.array([30, 31])
    times = START + steps * 1_000
    write_series(run, "train/loss", [np.nan, 0.3], steps=steps, times=times)
    refresh(page)
    assert page.evaluate(DOTS_WITH, 31) == {"steps": [*range(30), 31], "known": 30}

    page.evaluate(SETTLE)
    wait_until(page, lambda: page.evaluate(DOTS)["known"] == 31)
    assert page.evaluate(DOTS)["steps"] == [*range(30), 31]


def log_with_outliers(run, first, count, *, height=1.0):
    steps = np.arange(first, first + count)
    values = np.where(steps % 150 == 75, SPIKE, height * np.sin(steps / 50))
    write_series(run, "train/loss", values, steps=steps, times=START + steps * 1_000)


def test_a_chart_without_outliers_grows_as_others_do(visit, ada, page, run):
    log_with_outliers(run, 0, 300)
    visit(f"/runs/{run.id}/charts?clip=1", ada)
    expect(page.locator(DRAWN)).to_be_visible()
    before = page.evaluate(HEIGHT)
    assert before[1] < SPIKE

    # These change the range without outliers a little.
    log_with_outliers(run, 300, 10)
    refresh(page)
    wait_until(page, lambda: page.evaluate(END)["x"] > 305)
    assert len(page.evaluate(SHOWN)["lines"][0][0]) == 300
    assert page.evaluate(HEIGHT) == before

    log_with_outliers(run, 310, 300, height=3.0)
    refresh(page)
    wait_until(page, lambda: page.evaluate(HEIGHT)[1] > before[1] + 0.5)
    assert page.evaluate(HEIGHT)[1] < SPIKE


def test_a_height_that_somebody_chose_stays_while_outliers_are_left_out(
    visit, ada, page, run
):
    log_with_outliers(run, 0, 300)
    visit(f"/runs/{run.id}/charts?clip=1", ada)
    expect(page.locator(DRAWN)).to_be_visible()
    before = page.evaluate(HEIGHT)
    drag_down(page, 0.2, 0.6)
    wait_until(page, lambda: page.evaluate(HEIGHT) != before)
    chosen = page.evaluate(HEIGHT)
    assert before[0] < chosen[0] < chosen[1] < before[1]

    log_with_outliers(run, 300, 300, height=3.0)
    refresh(page)
    wait_until(page, lambda: len(page.evaluate(SHOWN)["lines"][0][0]) == 600)
    assert page.evaluate(HEIGHT) == chosen

    # Resetting the zoom does not show the outliers either.
    page.locator(".nsewdrag").first.dblclick()
    wait_until(page, lambda: before[1] + 0.5 < page.evaluate(HEIGHT)[1] < SPIKE)


def drag_down(page, start, end):
    """Zoom by dragging over a part of the plot, as shares of its height."""
    area = page.locator(".nsewdrag").first.bounding_box()
    middle = area["x"] + area["width"] / 2
    page.mouse.move(middle, area["y"] + area["height"] * start)
    page.mouse.down()
    page.mouse.move(middle, area["y"] + area["height"] * end, steps=6)
    page.mouse.up()


def test_gaps_that_come_live_are_gaps(visit, ada, page, run):
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    steps = np.arange(300, 315)
    values = np.where(steps < 305, np.nan, 0.5)
    write_series(run, "train/loss", values, steps=steps, times=START + steps * 1_000)
    refresh(page)

    expect(page.locator(".chart__notes")).to_contain_text("5 NaN or infinite points")
    path = "document.querySelector('.js-line').getAttribute('d')"
    wait_until(page, lambda: page.evaluate(path).count("M") == 2)


def test_what_is_drawn_stays_while_the_server_is_gone_and_the_page_says_so(
    visit, ada, page, run, watch
):
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    page.route("**/figures/charts*", lambda route: route.abort())
    refresh(page)
    expect(page.get_by_role("alert")).to_contain_text(
        "No response from the server since"
    )
    expect(page.locator(f"{DRAWN} .js-line")).to_be_visible()

    page.unroute("**/figures/charts*")
    refresh(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    watch.allow("ERR_FAILED")


def test_a_silent_agent_is_named_with_the_time(visit, ada, page, run):
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.get_by_text("Live updates")).to_be_visible()

    Run.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))

    expect(page.locator(".charts__live--silent")).to_contain_text(
        "No data from this run since", timeout=WAIT_MS
    )


def test_a_chart_out_of_sight_catches_up_when_it_is_scrolled_to(visit, ada, page, run):
    page.set_viewport_size({"width": 390, "height": 500})
    for n in range(9):
        write_series(run, f"train/other_{n}", [1.0, 2.0])
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    chart = page.locator(".chart").first
    expect(chart).to_have_attribute("data-drawn", "true", timeout=WAIT_MS)

    page.locator(".chart").last.scroll_into_view_if_needed()
    log(run, 300, 20)
    # The page polls only for visible charts.
    with page.expect_response(is_figure, timeout=WAIT_MS) as seen:
        pass
    assert "train/loss" not in str(query_of(seen.value)["chart"])
    assert len(page.evaluate(SHOWN)["lines"][0][0]) == 300

    chart.scroll_into_view_if_needed()
    wait_until(page, lambda: page.evaluate(END)["x"] == pytest.approx(319, abs=0.5))


def test_a_visible_chart_looks_again_by_itself_and_a_hidden_page_does_not(
    visit, ada, page, run
):
    log(run, 0, 300)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()
    with page.expect_response(is_figure, timeout=WAIT_MS):
        pass

    page.evaluate('Object.defineProperty(document, "hidden", { get: () => true })')
    asked = []
    page.on("request", lambda request: asked.append(is_figure(request)))
    page.wait_for_timeout(6_000)

    assert not any(asked)
