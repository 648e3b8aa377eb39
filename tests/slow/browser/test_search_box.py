"""The search box above the runs table: text, regular expressions and filters as chips."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.builders import make_project, make_run, write_tags, write_values
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now
from tests.slow.browser.test_runs_grid import names
from tracker.models import State

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SEARCH = "Filter by name or tag"


@pytest.fixture
def open_runs(visit, ada):
    project = make_project(ada)
    for number, name in enumerate(("lr-1", "lr-22", "batch")):
        state = State.FAILED if name == "batch" else State.FINISHED
        run = make_run(project, name, state)
        write_values(run, {"params/rate": number / 10, "params/opt": f"o{number}"})
        write_tags(run, f"tag-{number}")

    def open_page(query: str = "") -> Page:
        return visit(f"/w/{project.workspace.slug}/{project.slug}/{query}", ada)

    return open_page


def chips(page: Page):
    return page.locator(".search__edit")


def test_the_toggle_makes_the_text_a_regular_expression(open_runs):
    page = open_runs()
    page.get_by_role("button", name="Regular expression").click()

    page.keyboard.type("^lr-.$")
    expect(page.get_by_text("1 of 3 runs")).to_be_visible()

    assert names(page) == ["lr-1"]
    page.reload(wait_until="networkidle")
    assert names(page) == ["lr-1"]
    expect(page.get_by_label(SEARCH)).to_have_value("^lr-.$")
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(page.get_by_text("3 runs", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Regular expression")).to_have_attribute(
        "aria-pressed", "false"
    )


def test_a_bad_pattern_is_explained_and_the_rows_stay(open_runs):
    page = open_runs()

    page.get_by_label(SEARCH).press_sequentially("/lr-(/")

    expect(page.get_by_text("missing )")).to_be_visible()
    assert len(names(page)) == 3
    page.get_by_label(SEARCH).fill("/lr")
    expect(page.get_by_text("missing )")).to_be_hidden()


def test_a_typed_condition_becomes_a_chip(open_runs):
    page = open_runs()
    page.get_by_label(SEARCH).press_sequentially("rate>0.05")
    expect(page.get_by_role("option", name="params/rate > 0.05")).to_be_visible()

    page.keyboard.press("Enter")

    expect(chips(page)).to_have_text(["params/rate > 0.05"])
    expect(page.get_by_text("2 of 3 runs")).to_be_visible()
    assert "query=params%2Frate+%3E+0.05" in address_now(page)
    assert violations(page) == []
    page.keyboard.press("Backspace")
    expect(page.get_by_text("3 runs", exact=True)).to_be_visible()
    expect(chips(page)).to_have_count(0)


def test_older_parameters_are_chips_that_can_be_edited(open_runs):
    page = open_runs("?state=failed&tag=tag-2")
    expect(chips(page)).to_have_text(["state is failed", "tags has tag-2"])

    page.get_by_label("Remove filter tags has tag-2").click()
    chips(page).first.click()
    expect(page.get_by_label("Value", exact=True)).to_have_value("failed")
    page.get_by_label("Value", exact=True).fill("finished")
    page.get_by_role("button", name="Apply").click()

    expect(page.get_by_text("2 of 3 runs")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?query=state\+%3D\+finished$"))


def test_the_filter_button_adds_a_filter_with_suggested_values(open_runs):
    page = open_runs()
    page.locator("[data-part=query-form] > summary").click()

    page.get_by_role("combobox", name="Column").fill("params/opt")
    page.get_by_role("combobox", name="Operator").select_option("=")
    expect(page.locator("#filter-values option")).to_have_count(3)
    page.get_by_label("Value", exact=True).fill("o1")
    page.keyboard.press("Enter")

    expect(page.get_by_text("1 of 3 runs")).to_be_visible()
    assert names(page) == ["lr-22"]


def test_a_query_that_chips_cannot_show_is_one_chip(open_runs):
    page = open_runs("?query=state+%3D+failed+or+params/rate+<+0.05")
    expect(chips(page)).to_have_text(["query"])

    chips(page).click()

    query = page.get_by_role("combobox", name="Query")
    expect(query).to_be_focused()
    query.fill("state = failed and params/rate < 9")
    expect(chips(page)).to_have_text(["state is failed", "params/rate < 9"])
    page.set_viewport_size(PHONE)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
