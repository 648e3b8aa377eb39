"""The index of chart sections: on a run, next to the runs list and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.builders import make_project, make_run, points_message, write
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SPACES = ("train", "val", "test", "optim", "timing", "eval_hard_1", "eval_hard_2")
LAYERS = [f"model.layers.{number}/norm" for number in range(8)]
TOP = "section => section.getBoundingClientRect().top"


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def run(project):
    run = make_run(project, "many", "finished")
    paths = [f"{space}/{name}" for space in SPACES for name in ("loss", "f1", "auc")]
    write(run, [points_message(path, [2.0, 1.0]) for path in [*paths, *LAYERS]])
    return run


def entries(page: Page) -> Locator:
    index = page.get_by_role("navigation", name="Chart sections")
    return index.get_by_role("link")


def entry(page: Page, name: str) -> Locator:
    return page.locator(f".section-index__link[title='{name}']")


def section(page: Page, name: str) -> Locator:
    return page.locator(f"[data-section='{name}']")


def expect_at_top(page: Page, name: str) -> None:
    wait_until(page, lambda: 0 <= section(page, name).evaluate(TOP) < 150)
    expect(entry(page, name)).to_have_attribute("aria-current", "location")


def test_the_index_opens_a_section_and_follows_scrolling_and_search(visit, ada, run):
    page = visit(f"/runs/{run.id}/charts", ada)

    expect(entries(page)).to_have_count(8)
    expect(entry(page, "train/")).to_have_attribute("aria-current", "location")
    expect(section(page, "model.layers.*").locator(".chart")).to_have_count(0)
    entry(page, "model.layers.*").click()
    expect(section(page, "model.layers.*")).to_have_attribute("open", "")
    expect(section(page, "model.layers.*").locator(".chart")).to_have_count(8)
    expect_at_top(page, "model.layers.*")
    assert address_now(page).endswith("#section=model.layers.*")
    assert violations(page) == []

    page.mouse.move(700, 500)
    page.mouse.wheel(0, -20_000)
    expect(entry(page, "train/")).to_have_attribute("aria-current", "location")

    page.get_by_role("searchbox").fill("hard_1/f1")
    expect(entries(page).filter(visible=True)).to_have_count(1)
    expect(entry(page, "eval_hard_1/")).to_have_accessible_name("eval_hard_1/: 1 chart")
    page.get_by_role("searchbox").fill("")
    expect(entries(page).filter(visible=True)).to_have_count(8)


def test_keys_go_through_the_index_into_a_section(visit, ada, run):
    page = visit(f"/runs/{run.id}/charts", ada)
    entry(page, "train/").focus()

    page.keyboard.press("End")
    expect(entry(page, "model.layers.*")).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    name = page.evaluate("document.activeElement.parentElement.dataset.section")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    expect_at_top(page, name)


def test_a_link_to_a_section_opens_it_next_to_the_runs_list(visit, ada, run):
    address = "/w/ada-workspace/vision/?as=charts#section=model.layers.*"
    page = visit(address, ada)

    expect(section(page, "model.layers.*")).to_have_attribute("open", "")
    expect(section(page, "model.layers.*").locator(".chart")).to_have_count(8)
    expect(entry(page, "model.layers.*")).to_have_attribute("aria-current", "location")
    page.locator(".runs-charts").get_by_role("searchbox").fill("hard")
    # Too few for an index.
    expect(page.locator(".charts__section")).to_have_count(4)
    expect(page.locator(".section-index")).to_be_hidden()


def test_the_index_is_a_menu_on_a_phone(visit, ada, run, page):
    page.set_viewport_size(PHONE)
    visit(f"/runs/{run.id}/charts", ada)
    button = page.locator(".section-index__button")

    expect(entry(page, "val/")).to_be_hidden()
    button.click()
    expect(entry(page, "train/")).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    button.click()
    entry(page, "timing/").click()

    expect(entry(page, "val/")).to_be_hidden()
    expect(button).to_contain_text("timing/")
    expect_at_top(page, "timing/")
