"""Times on pages: in the browser's zone, whichever it is, and in UTC if the user likes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import agent
from tests.builders import (
    SECOND,
    START,
    make_project,
    make_run,
    points_message,
    records_message,
    write,
)
from tests.slow.browser.conftest import address_now, open_account_menu, wait_until
from tests.slow.browser.test_chart_page import BOX, point_at
from tests.slow.browser.test_run_page import DRAWN, drag, is_figure, query_of
from tests.web.sample_run import make_sample_run, settle

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SECONDS = 500
BEGIN = START // 1_000  # 12:00 UTC on 2 January 2026, in milliseconds
# A zone of Chromium, and the local time then.
ZONES = {
    "UTC": "2 Jan 2026, 12:0[1-4]:\\d\\d UTC",
    "America/Los_Angeles": "2 Jan 2026, 04:0[1-4]:\\d\\d GMT-8",
    "Asia/Calcutta": "2 Jan 2026, 17:3[1-4]:\\d\\d GMT\\+5:30",
}
HOURS = {"UTC": "12:0", "America/Los_Angeles": "04:0", "Asia/Calcutta": "17:3"}
DRAWN_POINTS = """() => {
  const plot = document.querySelector(".chart[data-drawn=true] .js-plotly-plot")
  const { xaxis } = plot._fullLayout
  const [low, high] = xaxis.range
  return Array.from(plot.data[0].x).filter((x) => low <= x && x <= high).length
}"""


def in_zone(zone):
    return pytest.mark.browser_context_args(timezone_id=zone)


in_each_zone = pytest.mark.parametrize(
    "zone", [pytest.param(zone, marks=in_zone(zone), id=zone) for zone in ZONES]
)


@pytest.fixture
def run(ada):
    run = make_run(make_project(ada), state="finished")
    write(run, [points_message("train/loss", np.arange(float(SECONDS)))])
    settle(run)
    return run


@in_each_zone
def test_a_zoom_of_a_time_axis_shows_the_instants_that_were_chosen(
    visit, ada, page, run, zone
):
    visit(f"/runs/{run.id}/charts?axis=time", ada)
    chart = page.locator(DRAWN).first
    expect(chart.locator(".xtitle")).to_have_text(f"time ({zone})")

    with page.expect_request(is_figure) as zoomed:
        drag(page, chart, 0.25, 0.5)

    asked = query_of(zoomed.value)
    low, high = (float(asked[name][0]) for name in ("low", "high"))
    assert low == pytest.approx(BEGIN + 125_000, abs=10_000)
    assert high == pytest.approx(BEGIN + 250_000, abs=10_000)
    near = pytest.approx((high - low) / 1_000, abs=3)
    wait_until(page, lambda: page.evaluate(DRAWN_POINTS) == near)
    expect(chart.locator(".xtick text").first).to_contain_text(HOURS[zone])
    # After a reload, and so for each user of the link.
    visit(address_now(page).removeprefix(page.evaluate("location.origin")))
    expect(page.locator(DRAWN).first).to_be_visible()
    wait_until(page, lambda: page.evaluate(DRAWN_POINTS) == near)
    point_at(page, page.locator(DRAWN).first, 0.5)
    expect(page.locator(f"{BOX} .chart__place")).to_have_text(re.compile(ZONES[zone]))


@in_each_zone
def test_hardware_stages_and_text_name_the_zone(visit, ada, page, zone):
    run = make_sample_run(make_project(ada))
    visit(f"/runs/{run.id}/", ada)

    expect(page.locator("#run-started time")).to_contain_text(HOURS[zone])
    title = page.locator("#run-started time").get_attribute("title")
    assert zone in title
    assert "12:00:00 UTC" in title
    visit(f"/runs/{run.id}/hardware", ada)
    rows = page.locator(DRAWN).first
    expect(rows.locator(".xtitle")).to_have_text(f"time ({zone})")
    expect(rows.locator(".xtick text").first).to_contain_text(HOURS[zone])


@in_zone("Asia/Calcutta")
def test_ridges_show_the_time_in_the_zone(visit, ada, page):
    run = make_run(make_project(ada), state="finished")
    values = [agent.Histogram(np.arange(9.0), bins=3).encoded() for _ in range(4)]
    times = [START + minute * 60 * SECOND for minute in range(4)]
    write(run, [records_message("grads", values, kind="histogram", times=times)])
    settle(run)
    visit(f"/runs/{run.id}/charts?axis=time&ridges=1", ada)
    chart = page.locator(DRAWN).first

    expect(chart.locator(".ytitle")).to_have_text("time (Asia/Calcutta)")
    expect(chart.locator(".ytick text").first).to_contain_text("17:29")
    names = chart.locator(".js-plotly-plot").evaluate(
        "plot => plot.data.map(({ meta }) => meta)"
    )
    assert names[0] == "2 Jan 2026, 17:30:00 GMT+5:30"


@in_zone("Asia/Calcutta")
def test_one_button_switches_between_the_zone_and_utc(visit, ada, page, run):
    visit(f"/runs/{run.id}/charts?axis=time", ada)
    tick = page.locator(f"{DRAWN} .xtick text").first

    open_account_menu(page)
    page.get_by_role("button", name="Times in Asia/Calcutta. Switch to UTC").click()
    expect(page.locator(f"{DRAWN} .xtitle").first).to_have_text("time (UTC)")
    expect(tick).to_contain_text("12:0")
    open_account_menu(page)
    page.get_by_role("button", name="Times in UTC").click()

    expect(page.locator(f"{DRAWN} .xtitle").first).to_have_text("time (Asia/Calcutta)")
    expect(tick).to_contain_text("17:3")


# Clocks of Los Angeles: put back at 9:00 UTC on 1 November 2026, put forward at 10:00 UTC
# on 8 March 2026.
TICKS = """async ([low, high, pixels]) => {
  const { timeTicks } = await import("/static/web/js/charts/time_ticks.js")
  const { offsetAt } = await import("/static/web/js/core/clock.js")
  return timeTicks([low, high].map(Date.parse), pixels, offsetAt)
    .filter(({ value }) => value >= Date.parse(low) && value <= Date.parse(high))
    .map(({ value, text }) => [new Date(value).toISOString().slice(0, 16), text])
}"""


@in_zone("America/Los_Angeles")
@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        pytest.param(
            "2026-11-01T07:30Z",
            "2026-11-01T10:30Z",
            [
                ["2026-11-01T08:00", "01:00<br>1 Nov 2026"],
                ["2026-11-01T09:00", "01:00"],
                ["2026-11-01T10:00", "02:00"],
            ],
            id="an hour comes twice",
        ),
        pytest.param(
            "2026-03-08T08:30Z",
            "2026-03-08T11:30Z",
            [
                ["2026-03-08T09:00", "01:00<br>8 Mar 2026"],
                ["2026-03-08T10:00", "03:00"],
                ["2026-03-08T11:00", "04:00"],
            ],
            id="an hour is skipped",
        ),
        pytest.param(
            "2026-03-07T00:00Z",
            "2026-03-10T00:00Z",
            [
                ["2026-03-07T08:00", "7 Mar<br>2026"],
                ["2026-03-08T08:00", "8 Mar"],
                ["2026-03-09T07:00", "9 Mar"],
            ],
            id="days begin at midnight before and after",
        ),
        pytest.param(
            "2025-12-15T00:00Z",
            "2026-03-15T00:00Z",
            [
                ["2026-01-01T08:00", "Jan 2026"],
                ["2026-02-01T08:00", "Feb 2026"],
                ["2026-03-01T08:00", "Mar 2026"],
            ],
            id="months",
        ),
    ],
)
def test_ticks_stand_at_round_times_of_the_clock(visit, low, high, ticks):
    assert visit("/sign-in").evaluate(TICKS, [low, high, 270]) == ticks
