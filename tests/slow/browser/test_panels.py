"""Panels among the charts of runs, and where the first chart stands."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.builders import (
    make_project,
    make_run,
    points_message,
    write,
    write_values,
)
from tests.slow.browser.conftest import PHONE, wait_until
from tests.web.pages.compare.test_media import write_pictures
from tracker.actions.dashboards import create_dashboard
from tracker.boards.board import Board, board_from
from tracker.models import ChartArrangement
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATIENCE = 20_000
DESKTOP = {"width": 1_440, "height": 900}


@pytest.fixture
def project(ada):
    return make_project(ada)


def logged(project, count: int, paths=("train/loss", "val/loss")):
    runs = [make_run(project, f"run {number}", "finished") for number in range(count)]
    for number, run in enumerate(runs):
        values = [3.0, 2.0, 1.0 + number]
        write(run, [points_message(path, values) for path in paths])
        write_values(run, {"params/lr": 0.1 * (number + 1)})
        compact_run(run.id)
    return runs


def compared(runs) -> str:
    return f"/w/ada-workspace/vision/compare?runs={','.join(str(r.id) for r in runs)}"


def kept(project) -> int:
    found = ChartArrangement.objects.filter(project=project).first()
    return len(found.body.get("panels", [])) if found else 0


def add(page: Page, kind: str, field: str, value: str) -> None:
    page.get_by_role("button", name="Add panel").click()
    page.get_by_role("dialog").get_by_role("button", name=kind).click()
    page.get_by_role("dialog").get_by_label(field, exact=True).fill(value)
    page.get_by_role("dialog").get_by_role("button", name="Add", exact=True).click()


def test_a_panel_is_added_edited_removed_and_put_back(visit, ada, project):
    runs = logged(project, 3)
    page = visit(compared(runs), ada)

    add(page, "Bar chart", "Metric", "params/lr")

    panel = page.get_by_role("group", name="params/lr", exact=True)
    expect(panel.locator(".barlayer .point")).to_have_count(3, timeout=PATIENCE)
    wait_until(page, lambda: kept(project) == 1)
    panel.get_by_role("button", name="Edit").click()
    page.get_by_role("dialog").get_by_label("Title", exact=True).fill("Rates")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    panel = page.get_by_role("group", name="Rates", exact=True)
    expect(panel.locator(".barlayer .point")).to_have_count(3, timeout=PATIENCE)
    panel.get_by_role("button", name="Remove").click()
    expect(panel).to_have_count(0)
    wait_until(page, lambda: kept(project) == 0)
    page.get_by_role("button", name="Undo").click()
    expect(panel).to_be_visible()
    wait_until(page, lambda: kept(project) == 1)

    page.reload()

    expect(panel.locator(".barlayer .point")).to_have_count(3, timeout=PATIENCE)


def test_panels_stand_beside_the_runs_and_follow_them(visit, ada, project):
    logged(project, 3)
    page = visit("/w/ada-workspace/vision/?as=charts", ada)
    expect(
        page.locator('.charts__sections .chart[data-drawn="true"]').first
    ).to_be_visible(timeout=PATIENCE)

    add(page, "Bar chart", "Metric", "params/lr")

    bars = page.get_by_role("group", name="params/lr", exact=True).locator(
        ".barlayer .point"
    )
    expect(bars).to_have_count(3, timeout=PATIENCE)
    wait_until(page, lambda: kept(project) == 1)
    page.locator(".runs-grid__row[data-position] .runs-grid__eye").first.click()
    expect(bars).to_have_count(2, timeout=PATIENCE)


def test_a_view_of_the_runs_has_the_panels_of_its_maker(visit, ada, project):
    logged(project, 2)
    page = visit("/w/ada-workspace/vision/?as=charts", ada)
    expect(
        page.locator('.charts__sections .chart[data-drawn="true"]').first
    ).to_be_visible(timeout=PATIENCE)
    add(page, "Bar chart", "Metric", "params/lr")
    panel = page.get_by_role("group", name="params/lr", exact=True)
    expect(panel.locator(".barlayer .point")).to_have_count(2, timeout=PATIENCE)
    wait_until(page, lambda: kept(project) == 1)

    page.locator("[data-part=views] > summary").click()
    page.get_by_label("New view name").fill("With rates")
    page.get_by_role("button", name="Save view").click()
    page.wait_for_url("**/?view=*")
    address = page.url
    ChartArrangement.objects.all().delete()
    visit("/w/ada-workspace/vision/?as=charts")
    expect(panel).to_have_count(0)
    page.goto(address)

    expect(panel.locator(".barlayer .point")).to_have_count(2, timeout=PATIENCE)


def test_a_panel_of_media_moves_through_its_steps(
    visit, ada, project, settings, tmp_path
):
    settings.DATA_FOLDER = tmp_path
    runs = logged(project, 2)
    for run in runs:
        write_pictures(run, "samples", [40, 120], steps=[0, 10])
    page = visit(compared(runs), ada)

    add(page, "Media", "Path", "samples")

    panel = page.get_by_role("group", name="samples", exact=True)
    # The script writes the step once it listens.
    expect(panel.get_by_role("status")).to_have_text("10")
    panel.get_by_role("button", name="Previous step").click()
    expect(panel.get_by_text("step 0")).to_have_count(2)
    panel.locator("[data-part=zoom]").first.click()
    expect(page.get_by_role("dialog", name="Image")).to_contain_text("run 0 · samples")
    page.keyboard.press("Escape")
    panel.get_by_role("slider").fill("1")
    expect(panel.get_by_text("step 10")).to_have_count(2)


def test_a_panel_and_a_chart_are_added_to_a_dashboard(visit, ada, project):
    runs = logged(project, 2)
    made = create_dashboard(project, "ours", Board(), user_id=ada.user_id)
    page = visit(compared(runs), ada)
    add(page, "Bar chart", "Metric", "params/lr")
    dialog = page.get_by_role("dialog")

    page.get_by_role("button", name="Add params/lr to a dashboard").click()
    dialog.get_by_role("button", name="ours").click()
    expect(dialog).to_contain_text("Added to ours")
    dialog.get_by_role("button", name="Close").click()
    chart = page.locator('.charts__sections .chart[data-drawn="true"]').first
    chart.hover()
    chart.locator('[data-do="menu"]').click()
    page.get_by_role("menuitem", name="Add to dashboard").click()
    dialog.get_by_role("button", name="ours").click()
    dialog.get_by_role("link", name="Open dashboard").click()

    expect(page.locator('.widget .chart[data-drawn="true"]')).to_have_count(
        2, timeout=PATIENCE
    )
    made.refresh_from_db()
    bar, line = board_from(made.content).widgets
    assert (bar.kind, line.settings["metrics"]) == ("bar", ["train/loss"])
    assert len(line.run_set.runs) == 2


METRICS = [f"group{n % 12}/metric_{n:03}" for n in range(300)]
CASES = {
    "one run": (1, ("train/loss",)),
    "60 runs": (60, ("train/loss",)),
    "300 metrics": (2, METRICS),
}


@pytest.mark.parametrize("case", CASES)
def test_the_first_chart_is_seen_without_scrolling(visit, ada, page, project, case):
    runs = logged(project, *CASES[case])
    visit("/", ada)

    addresses = ["/w/ada-workspace/vision/?as=charts"]
    if len(runs) > 1:
        addresses.append(compared(runs))
    for address in addresses:
        for size in (DESKTOP, PHONE):
            page.set_viewport_size(size)
            visit(address)
            chart = page.locator(".charts__sections .chart__plot").first
            expect(chart).to_be_visible(timeout=PATIENCE)
            box = chart.bounding_box()
            assert box["y"] + min(box["height"], 120) <= size["height"], address
