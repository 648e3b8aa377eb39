"""Print layout: the whole page, dark text on white, in either theme."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders import make_project, make_run, write_series
from tracker.actions.reports import create_report, save_version

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CHARTS = 9
DRAWN = '.chart[data-drawn="true"]'
# The content of the page when the browser prints it.
NOTE = """() => addEventListener("beforeprint", () => {
  const words = [...document.querySelectorAll(".xtick text")]
  const lines = [...document.querySelectorAll("path.js-line")]
  window.printed = {
    drawn: document.querySelectorAll('.chart[data-drawn="true"]').length,
    said: [...document.querySelectorAll("[data-undrawn]")].map((each) => getComputedStyle(each, "::after").content),
    words: [...new Set(words.map((each) => getComputedStyle(each).fill))],
    lines: [...new Set(lines.map((each) => getComputedStyle(each).stroke))],
    widest: Math.max(...[...document.querySelectorAll(".chart__plot .main-svg")].map((each) => each.clientWidth)),
    ground: getComputedStyle(document.documentElement).backgroundColor,
  }
})"""
# Chromium refuses a PDF while its own print dialog is open.
NO_DIALOG = "() => { window.print = () => { window.isPrinting = true } }"
WORDS = """() => getComputedStyle(document.querySelector(".xtick text")).fill"""
SHEET = "() => document.querySelector('[data-part=paper]').media"


@pytest.fixture
def run(ada):
    made = make_run(make_project(ada), "baseline", "finished")
    for number in range(CHARTS):
        write_series(made, f"train/loss_{number}", [3.0, 2.0, 1.0])
    return made


@pytest.fixture
def report(run, ada):
    block = "```seamark\nwidget: chart\ntitle: Loss\nmetrics: train/loss_{}\nheight: 5\n```\n"
    text = "\n".join(block.format(number) for number in range(CHARTS))
    made = create_report(run.project, "What helped", user_id=ada.user_id)
    save_version(made, "What helped", text, user_id=ada.user_id, based_on=0)
    return made


@pytest.fixture
def dark(page: Page) -> Page:
    page.emulate_media(color_scheme="dark")
    return page


def is_dark(colour: str) -> bool:
    red, green, blue = map(float, re.findall(r"[\d.]+", colour)[:3])
    return red + green + blue < 300


def test_the_button_draws_what_nobody_has_scrolled_to(visit, ada, dark, report):
    page = visit(f"/reports/{report.id}/", ada)
    expect(page.locator(DRAWN).nth(0)).to_be_visible()
    assert page.locator(DRAWN).count() < CHARTS
    assert not is_dark(page.evaluate(WORDS))
    page.evaluate(NOTE)
    page.evaluate(NO_DIALOG)

    page.get_by_role("button", name="Print", exact=True).click()
    page.wait_for_function("() => window.isPrinting")
    page.pdf()

    printed = page.evaluate("() => window.printed")
    assert printed["drawn"] == CHARTS
    assert printed["said"] == []
    assert all(map(is_dark, printed["words"]))
    # As wide as the sheet without margins, not as the window.
    assert 300 < printed["widest"] < 690
    assert printed["ground"] == "rgb(255, 255, 255)"
    expect(page.get_by_role("button", name="Print", exact=True)).to_be_focused()
    assert page.evaluate(SHEET) == "print"
    page.wait_for_function(
        "() => /2[0-9][0-9]|1[5-9][0-9]/.test("
        "getComputedStyle(document.querySelector('.xtick text')).fill)"
    )


def test_whoever_prints_at_once_reads_what_is_not_drawn(visit, ada, dark, run):
    page = visit(f"/runs/{run.id}/charts", ada)
    page.set_viewport_size({"width": 500, "height": 300})
    page.reload()
    expect(page.locator(DRAWN).nth(0)).to_be_visible()
    drawn = page.locator(DRAWN).count()
    assert drawn < CHARTS
    page.evaluate(NOTE)

    page.pdf()

    printed = page.evaluate("() => window.printed")
    assert all(map(is_dark, printed["words"]))
    assert not any("rgb(90, 169, 240)" in line for line in printed["lines"])
    assert len(printed["said"]) == CHARTS - drawn
    assert all("Not loaded when" in said for said in printed["said"])
    expect(page.locator("[data-undrawn]")).to_have_count(0)


def test_what_is_drawn_for_paper_can_be_given_up(visit, ada, dark, report):
    page = visit(f"/reports/{report.id}/", ada)
    expect(page.locator(DRAWN).nth(0)).to_be_visible()
    page.evaluate(NOTE)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("/figure"), hold)

    page.get_by_role("button", name="Print", exact=True).click()
    page.get_by_role("button", name="Cancel").click()

    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    assert page.evaluate(SHEET) == "print"
    assert page.evaluate("() => window.printed") is None
    expect(page.get_by_role("button", name="Print", exact=True)).to_be_focused()
    for route in held:
        route.continue_()
    page.unroute_all(behavior="wait")


def test_words_are_dark_where_no_script_hears_of_paper(visit, ada, dark, run):
    page = visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN).nth(0)).to_be_visible()

    page.emulate_media(media="print", color_scheme="dark")

    assert is_dark(page.evaluate(WORDS))
