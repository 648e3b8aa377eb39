"""Closing of overlays, navigation on a phone, and legends of single charts."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run, points_message, write
from tests.slow.browser.conftest import PHONE
from tests.slow.browser.test_run_page import DRAWN
from tests.web.sample_run import settle

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_panels_of_the_header_close_by_escape_and_by_a_click_elsewhere(
    visit, ada, page
):
    run = make_run(make_project(ada), state="finished")
    visit(f"/runs/{run.id}/", ada)
    panel, summary = (
        page.locator(f"#run-join {part}") for part in (".run__join-panel", "summary")
    )

    summary.click()
    expect(panel).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    summary.click()
    expect(panel).to_be_visible()
    page.locator("h1").click()
    expect(panel).to_be_hidden()


def test_a_run_on_a_phone_links_back_to_its_project(visit, ada, page):
    run = make_run(make_project(ada), "a-run-with-a-rather-long-name", "finished")
    page.set_viewport_size(PHONE)
    visit(f"/runs/{run.id}/", ada)

    expect(
        page.locator(".breadcrumbs").get_by_role("link", name="vision")
    ).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def test_compared_lines_have_a_legend_on_the_whole_window_only(visit, ada, page):
    project = make_project(ada)
    runs = [make_run(project, name, "finished") for name in ("one", "two")]
    for run in runs:
        write(run, [points_message("train/loss", np.arange(50.0))])
        settle(run)
    ids = ",".join(str(run.id) for run in runs)
    address = (
        f"/w/{project.workspace.slug}/{project.slug}/compare?runs={ids}&tab=charts"
    )
    visit(address, ada)
    chart = page.locator(DRAWN).first
    expect(chart).to_be_visible()
    chart.hover()

    chart.locator('[data-do="full"]').click()
    expect(chart.locator(".legendtext")).to_have_text(["one", "two"])
    page.keyboard.press("Escape")

    expect(chart.locator(".legendtext")).to_have_count(0)
