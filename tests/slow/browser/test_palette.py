"""Going somewhere by keyboard: the palette, the shortcuts and their list."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders import make_project, make_run
from tests.ladder_runs import DEMO, make_measured_run
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now
from tests.slow.browser.test_run_page import wait_until
from tracker.models import State

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PROJECT = "/w/ada-workspace/vision/"


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def run(project):
    make_run(project, "another", State.FINISHED)
    return make_run(project, "base <b>line</b>", State.FINISHED)


def palette(page: Page):
    # Scripts that listen for keys may still be on their way.
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Go to")
    expect(dialog).to_be_visible()
    return dialog


def test_a_run_is_found_by_any_part_of_its_name_and_opened(visit, ada, run):
    page = visit("/account/keys", ada)

    dialog = palette(page)
    expect(dialog.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("line BASE")
    expect(dialog.get_by_role("option", name="base <b>line</b>")).to_have_attribute(
        "aria-selected", "true"
    )
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(f"/runs/{run.id}/$"))


def test_the_active_option_is_told_and_moves(visit, ada, run):
    page = visit(f"/runs/{run.id}/", ada)
    dialog = palette(page)
    field = page.get_by_role("combobox")
    first = field.get_attribute("aria-activedescendant")

    page.keyboard.press("ArrowDown")
    second = field.get_attribute("aria-activedescendant")
    page.keyboard.press("ArrowUp")

    assert first != second
    assert field.get_attribute("aria-activedescendant") == first
    expect(dialog.locator(f"#{first}")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_where_somebody_was_comes_first_and_is_forgotten_with_the_session(
    visit, ada, run
):
    page = visit(f"/runs/{run.id}/", ada)
    page.goto(page.url.rpartition("/runs/")[0] + "/")

    dialog = palette(page)
    expect(
        dialog.get_by_role("group", name="Recent").get_by_role("option")
    ).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(str(run.id)))

    dialog = palette(page)
    page.keyboard.type("sign out")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.evaluate("() => JSON.stringify(localStorage)").count("/runs/") == 0


def test_pages_of_the_project_and_of_the_run_are_offered(visit, ada, run):
    page = visit(f"/runs/{run.id}/", ada)

    palette(page)
    page.keyboard.type("gpu hours")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/gpu-hours$"))

    page.go_back()
    palette(page)
    page.keyboard.type("hardware")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/hardware$"))


def test_enter_that_comes_before_the_answer_opens_what_is_found(
    visit, ada, run, project
):
    page = visit(f"/runs/{run.id}/", ada)
    # By query: slow typing sends several requests.
    held: dict[str, Route] = {}

    def hold(route: Route) -> None:
        [asked] = parse_qs(urlsplit(route.request.url).query, keep_blank_values=True)[
            "q"
        ]
        held[asked] = route

    page.route("**/places.json?*", hold)
    palette(page)
    page.keyboard.type("gpu hours")
    page.keyboard.press("Enter")
    wait_until(page, lambda: "gpu hours" in held)
    held.pop("gpu hours").continue_()
    expect(page).to_have_url(re.compile("/gpu-hours$"))

    # Not for another text than the one it was meant for.
    held.clear()
    dialog = palette(page)
    page.keyboard.type("gpu hours")
    page.keyboard.press("Enter")
    page.keyboard.press("Backspace")
    wait_until(page, lambda: "gpu hour" in held)
    held.pop("gpu hour").continue_()
    expect(dialog.get_by_role("option", name="GPU hours")).to_be_visible()


def test_actions_say_that_they_were_done(visit, ada, run, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit(f"/runs/{run.id}/", ada)

    palette(page)
    page.keyboard.type("copy")
    page.keyboard.press("Enter")

    expect(page.locator(".toast")).to_contain_text("Link copied")
    assert page.evaluate("() => navigator.clipboard.readText()") == address_now(page)

    palette(page)
    page.keyboard.type("theme")
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.documentElement.dataset.theme") == "light"


def test_nothing_that_matches_is_said(visit, ada, run):
    page = visit("/", ada)

    dialog = palette(page)
    page.keyboard.type("no such thing %_")

    expect(dialog.get_by_text("No matches")).to_be_visible()
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()


def test_keys_lead_to_places(visit, ada, run):
    page = visit(PROJECT, ada)
    page.wait_for_load_state("networkidle")

    page.keyboard.press("3")
    expect(page).to_have_url(re.compile("/ladders/$"))
    page.wait_for_load_state("networkidle")
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile(f"{PROJECT}$"))
    page.wait_for_load_state("networkidle")
    page.keyboard.press("/")
    expect(page.get_by_label("Filter by name or tag")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("p")
    expect(page.get_by_label("Filter by name or tag")).to_have_value("gp")
    page.keyboard.press("Tab")
    page.get_by_role("grid").focus()
    page.keyboard.press("g")
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile("[0-9]/$"))


def test_rows_are_walked_by_keys(visit, ada, project):
    for job in DEMO[:2]:
        make_measured_run(project, job)
    page = visit("/", ada)

    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("main :focus")).to_have_count(1)
    second = page.locator("main :focus").inner_text()
    page.keyboard.press("k")
    assert page.locator("main :focus").inner_text() != second


def test_the_list_of_shortcuts_is_what_there_is_and_switches_them_off(visit, ada, run):
    page = visit(f"/runs/{run.id}/", ada)

    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    for label in ("Go to a project", "Projects", "Charts", "Show keyboard shortcuts"):
        expect(dialog.get_by_text(label).first).to_be_visible()
    assert violations(page) == []

    dialog.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.keyboard.press("?")
    expect(dialog).to_be_hidden()
    expect(page).to_have_url(re.compile(f"{run.id}/$"))
    assert page.locator("[aria-keyshortcuts='2']").count() == 0

    page.reload()
    page.keyboard.press("2")
    expect(page).to_have_url(re.compile(f"{run.id}/$"))
    palette(page)
    page.keyboard.type("keyboard")
    page.keyboard.press("Enter")
    dialog.get_by_role("checkbox").check()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    expect(page).to_have_url(re.compile("/charts$"))


def test_assistive_technology_has_what_it_needs_of_the_palette(visit, ada, run):
    page = visit("/", ada)
    palette(page)
    expect(page.get_by_role("option").first).to_be_visible()

    assert violations(page) == []


def test_a_phone_has_a_button_for_it(visit, ada, run):
    page = visit("/", ada)
    page.set_viewport_size(PHONE)

    page.get_by_role("button", name=re.compile("Go to")).click()

    expect(page.get_by_role("combobox")).to_be_focused()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
