"""The way of one person through the pages, and back to where they were by the address."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.builders import make_project
from tests.ladder_runs import DEMO, make_measured_run
from tests.slow.browser.conftest import WIDE, Watch, address_now, sign_in
from tests.slow.browser.test_runs_grid import mark, names
from tests.slow.browser.test_shares import make_in_dialog, open_dialog

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]

LOSS = ".chart[data-key='train/loss'], .chart[data-path='train/loss']"
# Each line with the color and the dash that it is drawn in.
LINES = """chart => chart.querySelector(".js-plotly-plot")._fullData
  .map(({ name, line }) => [name, line.color, line.dash])"""
RANGE = "chart => chart.querySelector('.js-plotly-plot')._fullLayout.xaxis.range.map(Number)"


@pytest.fixture
def elsewhere(browser: Browser, live_server: LiveServer):
    """A fresh browser, which also must not log errors."""
    context = browser.new_context(viewport=WIDE, base_url=live_server.url)
    watch = Watch(context, urlsplit(live_server.url).netloc)
    yield context
    assert not watch.faults
    context.close()


def test_a_run_is_found_compared_and_shared_and_its_address_leads_back(
    visit, ada, elsewhere: BrowserContext, live_server
):
    project = make_project(ada)
    for job in DEMO:
        make_measured_run(project, job)
    page = visit("/", ada)

    follow(page, "vision")
    looked_at = open_a_run(page)
    compared = compare(page)
    shared = share_a_ladder(page)

    # The visitor has only the link to the ladder.
    stranger = elsewhere.new_page()
    stranger.goto(shared)
    expect(stranger.get_by_text("Shared, view only")).to_be_visible()
    bars = stranger.get_by_role("group", name="Time breakdown, one bar per run")
    expect(stranger.get_by_role("article")).to_have_count(3)
    expect(bars).to_contain_text("milliseconds per example")
    stranger.get_by_role("link", name="Per step").click()
    expect(bars).to_contain_text("milliseconds per step")
    stranger.reload()
    expect(bars).to_contain_text("milliseconds per step")
    assert elsewhere.cookies() == []

    # The same browser, signed in, is where the first one was.
    sign_in(elsewhere, live_server.url, ada)
    stranger.goto(looked_at.address)
    ends = drawn(stranger).evaluate(RANGE)
    assert ends == pytest.approx(looked_at.ends, rel=0.01)
    stranger.goto(compared.address)
    assert drawn(stranger).evaluate(LINES) == compared.lines
    expect(stranger.get_by_role("button", name="Show baseline")).to_be_visible()
    table = stranger.get_by_role("navigation", name="Comparison").locator(
        "a[href*='tab=table']"
    )
    table.click()
    expect(stranger).to_have_url(re.compile("tab=table"))
    stranger.reload()
    expect(table).to_have_attribute("aria-current", "page")


class Seen:
    """A chart's lines and the address when a page was left."""

    def __init__(self, page: Page) -> None:
        chart = drawn(page)
        self.address = address_now(page)
        self.lines = chart.evaluate(LINES)
        self.ends = chart.evaluate(RANGE)


def open_a_run(page: Page) -> Seen:
    """Filter the table, open the run that is left, look closer, and come back."""
    page.get_by_label("Filter by name or tag").fill("work")
    expect(page.get_by_text("1 of 4 runs")).to_be_visible()
    assert names(page) == ["workers"]
    follow(page, "workers")
    follow(page, "Charts")

    zoom(page, drawn(page))
    found = Seen(page)

    follow(page, "vision")
    expect(page.get_by_text("4 runs", exact=True)).to_be_visible()
    return found


def compare(page: Page) -> Seen:
    """Pick three runs, compare them, and hide one."""
    for name in ("baseline", "decoded", "workers"):
        mark(page, name).click()
    follow(page, "Compare")
    expect(drawn(page).locator("path.js-line")).to_have_count(3)
    before = {name: rest for name, *rest in drawn(page).evaluate(LINES)}

    page.get_by_role("button", name="Hide baseline").click()
    expect(drawn(page).locator("path.js-line")).to_have_count(2)
    found = Seen(page)

    # The remaining runs keep their styles.
    assert {name: rest for name, *rest in found.lines}.items() <= before.items()
    assert len({colour for _, colour, _ in found.lines}) == len(found.lines) == 2
    assert parse_qs(urlsplit(found.address).query)["hidden"] == ["0"]
    return found


def share_a_ladder(page: Page) -> str:
    """Create a ladder of the compared runs; return the path of a link to it."""
    follow(page, re.compile("^Create ladder"))
    page.get_by_label("Name", exact=True).fill("Faster decoding")
    page.get_by_role("button", name="Create ladder").click()
    expect(page.get_by_role("heading", name="Faster decoding")).to_be_visible()
    open_dialog(page)
    return make_in_dialog(page)


def follow(page: Page, link: str | re.Pattern[str]) -> None:
    """Go where a link leads; the page there answers clicks."""
    before = address_now(page)
    # The page's header may have the same link, so take the last one.
    page.get_by_role("link", name=link, exact=True).last.click()
    page.wait_for_url(lambda address: address != before)
    expect(page.locator("html[data-connected]")).to_be_attached()


def drawn(page: Page) -> Locator:
    chart = page.locator(LOSS)
    expect(chart).to_have_attribute("data-drawn", "true")
    return chart


def zoom(page: Page, chart: Locator) -> None:
    chart.scroll_into_view_if_needed()
    box = chart.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    with page.expect_response(lambda response: "low=" in response.url):
        page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=4)
        page.mouse.up()
    expect(page.get_by_role("button", name="Reset zoom")).to_be_visible()
    page.wait_for_url(re.compile("low="))
