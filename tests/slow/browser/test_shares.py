"""Sharing as a person does it, and looking as a stranger does."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.builders import make_project, write_values
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, WIDE, Watch, open_options
from tests.web.sample_run import make_sample_run
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.models import ShareLink

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def runs(ada):
    project = make_project(ada)
    return [make_sample_run(project, name) for name in ("baseline", "decoded")]


@pytest.fixture
def stranger_page(browser: Browser, live_server: LiveServer):
    """A page of a fresh browser, which also must not log errors."""
    context = browser.new_context(viewport=WIDE, base_url=live_server.url)
    watch = Watch(context, urlsplit(live_server.url).netloc)
    page = context.new_page()
    page.watched = watch
    yield page
    assert not watch.faults
    assert context.cookies() == []
    context.close()


def make_in_dialog(page: Page) -> str:
    """Create a link with the dialog that is open; return where it leads."""
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Create link").click()
    address = dialog.locator("#share-address")
    expect(address).to_contain_text("/s/sml_")
    return urlsplit(address.inner_text()).path


def open_dialog(page: Page) -> None:
    page.get_by_role("link", name="Share", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_run_is_shared_seen_and_revoked(visit, ada, runs, stranger_page):
    page = visit(f"/runs/{runs[0].id}/", ada)
    open_dialog(page)
    page.get_by_label("Note").fill("for the review")
    path = make_in_dialog(page)
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_be_hidden()

    asked: list[str] = []
    stranger_page.on("request", lambda request: asked.append(request.url))
    stranger_page.goto(path, wait_until="networkidle")
    expect(stranger_page.get_by_text("Shared, view only")).to_be_visible()
    stranger_page.get_by_role("link", name="Charts").first.click()
    expect(stranger_page.locator('.chart[data-drawn="true"]').first).to_be_visible()
    stranger_page.get_by_role("link", name="Hardware").click()
    expect(stranger_page.locator('#hardware-figure[data-drawn="true"]')).to_be_visible()
    stranger_page.get_by_role("link", name="Attributes").click()
    expect(stranger_page.get_by_text("params", exact=False)).to_have_count(0)
    within = (path, "/static/")
    assert [url for url in asked if not urlsplit(url).path.startswith(within)] == []

    open_dialog(page)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("for the review")).to_be_visible()
    expect(dialog.get_by_text("opened 1 time")).to_be_visible()
    dialog.locator("summary").first.click()
    dialog.get_by_role("button", name="Revoke link").click()
    expect(dialog.get_by_text("revoked by ada")).to_be_visible()

    response = stranger_page.reload()
    assert response.status == 404
    expect(
        stranger_page.get_by_role("heading", name="This share link does not work")
    ).to_be_visible()
    stranger_page.watched.allow("404")


def test_the_day_is_asked_for_only_where_it_counts(visit, ada, runs, watch):
    page = visit(f"/runs/{runs[0].id}/", ada)
    open_dialog(page)
    day = page.locator("#share-day")
    expect(day).to_be_hidden()

    page.get_by_label("Expires").select_option("On a date")
    expect(day).to_be_visible()
    page.get_by_role("button", name="Create link").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("the date")
    watch.allow("400")
    day.fill("2199-12-31")
    make_in_dialog(page)

    assert ShareLink.objects.get().expires_at.year == 2200


def test_a_comparison_and_a_ladder_are_shared(visit, ada, runs, stranger_page):
    project = runs[0].project
    ladder = create_ladder(project, "faster", [RungRequest(str(r.id)) for r in runs])
    compared = f"/w/ada-workspace/vision/compare?runs={runs[0].id},{runs[1].id}"
    for path in (compared, f"/ladders/{ladder.id}/"):
        page = visit(path, ada)
        open_dialog(page)
        shared = make_in_dialog(page)

        stranger_page.goto(shared, wait_until="networkidle")
        expect(stranger_page.get_by_text("Shared, view only")).to_be_visible()
        expect(stranger_page.locator('.chart[data-drawn="true"]').first).to_be_visible(
            timeout=20_000
        )


def test_a_comparison_is_shared_as_it_is_arranged(visit, ada, runs, stranger_page):
    for place, run in enumerate(runs):
        write_values(run, {"params/lr": 0.1 + place, "test/accuracy": 0.8 + place / 10})
    ids = f"{runs[0].id},{runs[1].id}"
    compared = f"/w/ada-workspace/vision/compare?runs={ids}&tab=parallel"
    page = visit(f"{compared}&dimension=params/lr&dimension=test/accuracy", ada)
    open_dialog(page)
    page.get_by_label("Configuration and arguments").check()
    shared = make_in_dialog(page)

    stranger_page.goto(shared, wait_until="networkidle")
    expect(stranger_page.get_by_text("Shared, view only")).to_be_visible()
    expect(stranger_page.locator(".parallel__axis")).to_have_count(2)
    expect(stranger_page.locator(".parallel__run")).to_have_count(2)
    assert violations(stranger_page) == []

    stranger_page.get_by_role("link", name="Charts", exact=True).click()
    open_options(stranger_page)
    stranger_page.get_by_label("Color by").fill("params/lr")
    stranger_page.get_by_label("Color by").press("Enter")
    colours = stranger_page.get_by_role("list", name="Colors")
    expect(colours.get_by_role("listitem")).to_have_count(2)
    expect(stranger_page.get_by_label("Color by")).to_have_value("params/lr")

    stranger_page.get_by_role("link", name="Scatter", exact=True).click()
    points = stranger_page.locator(".chart .point")
    expect(points).to_have_count(2, timeout=20_000)
    box = points.first.bounding_box()
    stranger_page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(stranger_page).to_have_url(re.compile(f"{shared}runs/"))


def test_the_report_of_a_ladder_is_shared(visit, ada, runs, stranger_page):
    project = runs[0].project
    ladder = create_ladder(project, "faster", [RungRequest(str(r.id)) for r in runs])
    page = visit(f"/ladders/{ladder.id}/", ada)
    open_dialog(page)
    shared = make_in_dialog(page)

    stranger_page.goto(shared, wait_until="networkidle")
    stranger_page.get_by_role("link", name="Report", exact=True).click()

    heading = stranger_page.get_by_role("heading", name="faster")
    expect(heading).to_be_visible()
    expect(stranger_page.get_by_role("button", name="Print")).to_be_visible()
    assert violations(stranger_page) == []
    stranger_page.get_by_role("link", name="Back to ladder").click()
    expect(stranger_page).to_have_url(re.compile(f"{shared}ladders/"))


def test_everybody_can_use_the_dialog_and_the_pages(visit, ada, runs, stranger_page):
    page = visit(f"/runs/{runs[0].id}/", ada)
    open_dialog(page)
    expect_accessible(page)
    shared = make_in_dialog(page)
    expect_accessible(page)

    listed = visit("/w/ada-workspace/vision/shares", ada)
    stranger_page.goto(shared, wait_until="networkidle")
    for each in (listed, stranger_page):
        expect_accessible(each)
        assert each.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def expect_accessible(page: Page) -> None:
    """Check a page in a wide window and on a phone; leave it on the phone."""
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)
        assert violations(page) == [], size
