"""Writing and reading a report, and its earlier versions."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run, write_series
from tests.slow.browser.test_run_page import wait_until
from tracker.actions.reports import create_report, save_version
from tracker.models import Report, ReportDraft

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LISTED = "/w/ada-workspace/vision/reports/"
DRAWN = '.chart[data-drawn="true"]'
# The first chart of a page waits for Plotly.
SLOW_MS = 20_000
CHART = "```seamark\nwidget: chart\ntitle: Loss\nmetrics: train/loss\n```\n"


@pytest.fixture
def project(ada):
    made = make_project(ada)
    for place, name in enumerate(("baseline", "decoded")):
        run = make_run(made, name, "finished")
        write_series(run, "train/loss", [1.0, 0.5 - place / 4])
    return made


@pytest.fixture
def report(project, ada):
    made = create_report(project, "What helped", user_id=ada.user_id)
    text = f"# Decoding\n\nIt **helped**.\n\n{CHART}"
    save_version(made, "What helped", text, user_id=ada.user_id, based_on=0)
    return made


def preview(page):
    return page.get_by_role("region", name="Preview")


def text_field(page):
    return page.get_by_label("Text in Markdown")


def test_from_nothing_to_a_report_that_others_read(visit, ada, project):
    page = visit(LISTED, ada)
    page.get_by_role("link", name="New report").click()
    page.get_by_label("Title").fill("What helped")
    page.get_by_role("button", name="Create report").click()

    text_field(page).fill("Decoding *ahead* helped.\n\n")
    expect(preview(page).locator("em")).to_have_text("ahead")
    expect(preview(page)).to_contain_text("Draft saved")
    page.get_by_role("button", name="Chart", exact=True).click()
    page.get_by_role("combobox", name="Metrics").fill("train/loss")
    page.get_by_role("button", name="Insert").click()

    expect(preview(page).locator(DRAWN)).to_be_visible(timeout=SLOW_MS)
    expect(text_field(page)).to_have_value(re.compile("```seamark\nwidget: chart\n"))
    page.get_by_role("button", name="Save version 1").click()

    expect(page.get_by_role("heading", name="What helped")).to_be_visible()
    expect(page.locator(DRAWN)).to_be_visible(timeout=SLOW_MS)
    assert not ReportDraft.objects.exists()


def test_typing_does_not_draw_charts_again(visit, ada, report):
    page = visit(f"/reports/{report.id}/edit", ada)
    expect(preview(page).locator(DRAWN)).to_be_visible(timeout=SLOW_MS)
    page.evaluate(f"document.querySelector('{DRAWN}').isTheSame = true")

    text_field(page).press("Control+Home")
    text_field(page).press_sequentially("Before it all. ")

    expect(preview(page)).to_contain_text("Before it all.")
    assert page.evaluate(f"document.querySelector('{DRAWN}').isTheSame")


def test_a_widget_is_opened_from_the_preview_and_changed(visit, ada, report):
    page = visit(f"/reports/{report.id}/edit", ada)

    preview(page).get_by_role("button", name="Edit Loss").click()
    page.get_by_role("dialog").get_by_label("Title").fill("Losses")
    page.get_by_role("button", name="Update").click()

    expect(text_field(page)).to_have_value(re.compile("title: Losses"))
    expect(
        preview(page).get_by_role("group", name="Losses", exact=True)
    ).to_be_visible()
    assert text_field(page).input_value().count("```seamark") == 1


def test_less_common_widgets_are_inserted_from_a_menu(visit, ada, report):
    page = visit(f"/reports/{report.id}/edit", ada)

    page.get_by_role("toolbar", name="Text").get_by_text("More").click()
    page.get_by_role("button", name="Parallel coordinates").click()

    expect(page.get_by_role("dialog", name="Widget")).to_be_visible()
    expect(page.get_by_role("button", name="Parallel coordinates")).to_be_hidden()


def test_the_draft_is_there_after_the_page_was_left(visit, ada, report):
    page = visit(f"/reports/{report.id}/edit", ada)
    expect(preview(page)).to_contain_text("No changes since version 1")
    text_field(page).fill("half a thou")
    expect(preview(page)).to_contain_text("Draft saved")

    visit(f"/reports/{report.id}/")
    expect(page.get_by_role("status")).to_contain_text("You have an unsaved draft")
    page.get_by_role("link", name="Continue editing").click()

    expect(text_field(page)).to_have_value("half a thou")
    assert Report.objects.get().text != "half a thou"


def test_a_draft_that_is_refused_is_said_and_sent_as_the_page_is_left(
    visit, ada, report, watch
):
    page = visit(f"/reports/{report.id}/edit", ada)
    expect(preview(page)).to_contain_text("No changes since version 1")
    page.route("**/draft", lambda route: route.fulfill(status=503))
    text_field(page).fill("half a thou")
    expect(preview(page).get_by_role("status")).to_contain_text("Not saved.")
    watch.allow("503")
    page.unroute("**/draft")

    visit(f"/reports/{report.id}/")
    # The draft may be saved after the next page request.
    wait_until(page, ReportDraft.objects.filter(text="half a thou").exists)


def test_who_comes_second_is_told_and_decides(visit, ada, report, watch):
    page = visit(f"/reports/{report.id}/edit", ada)
    text_field(page).fill("mine")
    expect(preview(page)).to_contain_text("Draft saved")
    save_version(report, "Other", "theirs", user_id=ada.user_id, based_on=1)

    page.get_by_role("button", name="Save version 2").click()
    expect(page.get_by_role("alert")).to_contain_text("changed this report")
    watch.allow("409")
    expect(text_field(page)).to_have_value("mine")
    page.get_by_role("button", name="Save anyway").click()

    expect(page.get_by_role("article")).to_contain_text("mine")
    assert Report.objects.get().version == 3


def test_an_old_version_is_read_and_restored(visit, ada, report):
    save_version(report, "Later", "later", user_id=ada.user_id, based_on=1)
    page = visit(f"/reports/{report.id}/", ada)

    page.get_by_role("link", name="version 2").click()
    page.get_by_role("link", name="1", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("You are viewing version 1")
    expect(page.locator(DRAWN)).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Restore this version").click()

    expect(page.get_by_role("heading", name="What helped")).to_be_visible()
    expect(page.get_by_role("link", name="version 3")).to_be_visible()
