"""Placeholders of loading content, also for screen readers."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders import make_project, make_run, write_series, write_values
from tests.slow.browser.conftest import sign_in
from tests.slow.browser.test_run_page import wait_until
from tests.tracker.api.v1.test_files import add
from tracker.actions.dashboards import create_dashboard
from tracker.boards.board import Board

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path


@pytest.fixture
def runs(ada):
    project = make_project(ada)
    made = [make_run(project, name, "finished") for name in ("one", "two")]
    for place, run in enumerate(made):
        write_series(run, "train/loss", [3.0, 2.0])
        write_values(run, {"params/lr": place})
    return made


@pytest.fixture
def open_at_once(page, ada, watch, live_server):
    """Open an address without waiting for its content."""
    sign_in(page.context, live_server.url, ada)

    def open_page(path: str) -> Page:
        page.goto(f"{live_server.url}{path}")
        return page

    return open_page


class Held:
    """Answers that are kept back until a test lets them come."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address, self.routes = page, address, list[Route]()
        page.route(address, self.hold)

    def hold(self, route: Route) -> None:
        self.routes.append(route)

    def come(self) -> None:
        wait_until(self.page, lambda: bool(self.routes))
        for route in self.routes:
            route.continue_()
        self.page.unroute(self.address)

    def fail(self) -> None:
        wait_until(self.page, lambda: bool(self.routes))
        for route in self.routes:
            route.abort()
        self.page.unroute(self.address)


def test_the_table_of_a_comparison(open_at_once, page, runs):
    held = Held(page, "**/compare/table?*")
    ids = ",".join(str(run.id) for run in runs)
    page = open_at_once(f"/w/ada-workspace/vision/compare?runs={ids}&tab=table")
    table = page.get_by_role("region", name="Side by side")

    expect(table).to_have_attribute("aria-busy", "true")
    expect(table.locator(".skeleton").nth(0)).to_be_visible()
    held.come()

    expect(table.get_by_text("lr", exact=True)).to_be_visible()
    expect(table).to_have_attribute("aria-busy", "false")
    expect(table.locator(".skeleton").nth(0)).to_be_hidden()


def test_charts_beside_runs(open_at_once, page, runs):
    held = Held(page, "**/runs/charts?*")
    page = open_at_once("/w/ada-workspace/vision/?as=charts")
    charts = page.get_by_role("region", name="Charts")

    expect(charts).to_have_attribute("aria-busy", "true")
    expect(charts.locator(".skeleton").nth(0)).to_be_visible()
    held.come()

    expect(charts.locator(".chart")).to_have_count(1)
    expect(charts).to_have_attribute("aria-busy", "false")
    expect(charts.locator(".skeleton").nth(0)).to_be_hidden()


def test_the_preview_of_a_file_and_what_was_there_if_it_does_not_come(
    visit, ada, runs, watch
):
    add(runs[0], "notes", b"it helped")
    page = visit(f"/runs/{runs[0].id}/files", ada)
    preview = page.get_by_role("region", name="Preview")
    held = Held(page, "**/files/preview?*")

    page.get_by_role("link", name="notes").click()
    expect(preview.locator(".skeleton").nth(0)).to_be_visible()
    expect(preview).to_have_attribute("aria-busy", "true")
    held.fail()
    expect(preview.get_by_text("No file selected")).to_be_visible()
    expect(preview.locator(".skeleton")).to_have_count(0)
    watch.allow("ERR_FAILED")
    watch.allow("Failed to fetch")

    held = Held(page, "**/files/preview?*")
    page.get_by_role("link", name="notes").click()
    expect(preview.locator(".skeleton").nth(0)).to_be_visible()
    held.come()
    expect(preview.get_by_text("it helped")).to_be_visible()
    assert preview.get_attribute("aria-busy") is None


def test_a_branch_of_a_tree(visit, ada, runs):
    for number in range(60):
        write_series(runs[0], f"monitoring/train/host/m{number}", [1.0])
    page = visit(f"/runs/{runs[0].id}/attributes", ada)
    held = Held(page, "**/attributes?prefix=*")

    page.get_by_text("monitoring/", exact=True).click()
    level = page.locator(".tree__level[aria-busy=true]")
    expect(level.locator(".skeleton").nth(0)).to_be_visible()
    expect(level.get_by_role("link", name="Open")).to_have_count(0)
    held.come()

    expect(page.get_by_text("train/", exact=True).nth(1)).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)


def test_a_dialog_opens_before_what_it_holds(visit, ada, runs):
    page = visit(f"/runs/{runs[0].id}/", ada)
    held = Held(page, "**/shares/new?*")

    page.get_by_role("link", name="Share").click()
    dialog = page.locator("#share-dialog")
    expect(dialog).to_be_visible()
    expect(dialog.locator(".skeleton").nth(0)).to_be_visible()
    held.come()

    expect(dialog.get_by_role("button", name="Create link")).to_be_visible()
    expect(dialog.locator(".skeleton")).to_have_count(0)


def test_a_dialog_that_was_closed_while_it_loaded_stays_closed(visit, ada, runs):
    board = create_dashboard(runs[0].project, "nightly", Board(), user_id=ada.user_id)
    page = visit(f"/dashboards/{board.id}/", ada)
    held = Held(page, "**/widgets/new*")

    page.get_by_role("button", name="Add widget").first.click()
    dialog = page.locator("#dialog")
    expect(dialog.locator(".skeleton").nth(0)).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    assert held.routes

    # After a failed request, a second one succeeds.
    page.unroute("**/widgets/new*")
    page.get_by_role("button", name="Add widget").first.click()
    expect(dialog.get_by_role("button", name="Value").first).to_be_visible()
