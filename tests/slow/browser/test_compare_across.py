"""Comparing runs of several projects, with annotations at their points."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.builders import browser_of, make_project, make_run, write_series
from tests.slow.browser.conftest import address_now, open_options
from tests.web.sample_run import make_sample_run
from tracker.actions.runs.annotations import annotate

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DRAWN = '.chart[data-drawn="true"]'
MARK = ".run-mark"
GROUPED = """async () => {
  const { grouped } = await import("/static/web/js/chart_page/mark_groups.js")
  const marks = [40, 0, 5, 17, 18, 90].map((left) => ({ left }))
  return grouped(marks, 18).map(({ left, marks }) => [left, marks.length])
}"""


@pytest.fixture
def projects(ada):
    return make_project(ada), make_project(ada, "speech")


def wait_for_charts(page: Page, count: int) -> None:
    expect(page.locator(DRAWN)).to_have_count(count)


@pytest.fixture
def runs(projects, ada):
    made = []
    for place, project in enumerate(projects):
        run = make_run(project, "base", "finished")
        write_series(run, "train/loss", [1.0 + place, 0.5, 0.25, 0.2, 0.1])
        made.append(run)
    annotate(made[0], "train/loss", 1, "the rate <b>dropped</b>", browser_of(ada))
    annotate(made[1], "train/loss", 3, "a spike", browser_of(ada))
    return made


def test_a_run_of_another_project_is_found_and_added(visit, ada, runs):
    page = visit(f"/w/ada-workspace/vision/compare?runs={runs[0].id}", ada)

    projects = page.get_by_label("Search in project")
    # Suggestions are visible while the input has the focus.
    projects.focus()
    projects.select_option("speech")
    found = page.locator("#compare-found").get_by_role("link")
    expect(found).to_have_count(1)
    found.click()

    names = page.locator(".compare-run__name")
    expect(names).to_have_text(["vision / base", "speech / base"])
    wait_for_charts(page, 1)
    assert f"runs={runs[0].id},{runs[1].id}" in address_now(page)


def test_texts_are_marks_that_are_read_and_switched_off(visit, ada, runs):
    ids = ",".join(str(run.id) for run in runs)
    page = visit(f"/w/ada-workspace/vision/compare?runs={ids}", ada)
    wait_for_charts(page, 1)
    marks, box = page.locator(MARK), page.locator(".run-marks__box")
    expect(marks).to_have_count(2)

    marks.nth(0).hover()
    expect(box).to_contain_text("the rate <b>dropped</b>")
    expect(box).to_contain_text("vision / base")
    marks.nth(0).focus()
    page.keyboard.press("ArrowRight")
    expect(marks.nth(1)).to_be_focused()
    expect(box).to_contain_text("a spike")

    page.get_by_role("button", name="Hide speech / base").click()
    expect(page.locator(".compare-run--hidden")).to_have_count(1)
    wait_for_charts(page, 1)
    expect(marks).to_have_count(1)

    open_options(page)
    page.get_by_text("Hide annotations").click()
    page.wait_for_url("**bare=1**")
    wait_for_charts(page, 1)
    expect(marks).to_have_count(0)


def test_marks_that_lie_together_are_one(modules):
    assert modules.evaluate(GROUPED) == [
        [22 / 3, 3],
        [18, 1],
        [40, 1],
        [90, 1],
    ]


def test_hardware_is_read_row_by_row_with_one_cursor(visit, ada, projects):
    runs = [make_sample_run(project, "base") for project in projects]
    ids = ",".join(str(run.id) for run in runs)
    page = visit(f"/w/ada-workspace/vision/compare?runs={ids}&tab=hardware", ada)
    wait_for_charts(page, 1)

    plot = page.locator(".chart__plot")
    area = plot.locator(".nsewdrag").first.bounding_box()
    assert area
    page.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)

    rows = page.locator(".chart__box:not([hidden]) .chart__row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("/ base")
    # The same run in the other rows, and a cursor through all of them.
    expect(page.locator(".chart__echo--of-row").first).to_be_visible()
    cursor = page.locator(".chart__cursor").bounding_box()
    assert cursor
    assert cursor["height"] > 2 * area["height"]
    expect(page.locator(".hoverlayer")).to_have_text("")
    page.mouse.move(2, 2)
    expect(page.locator(".chart__cursor")).to_be_hidden()
