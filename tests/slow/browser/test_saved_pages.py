"""Charts, ladders and reports saved as files: interactive HTML, SVG and PNG."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.builders import make_project, make_run, write_series
from tracker.actions.reports import create_report, save_version

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "</script><img src=x onerror='window.hacked = 1'>"
DRAWN = '.chart[data-drawn="true"]'


@pytest.fixture
def run(ada):
    made = make_run(make_project(ada), HOSTILE, "finished")
    for path in ("train/loss", f"val/{HOSTILE}"):
        write_series(made, path, [3.0, 2.0, 1.0])
    return made


@pytest.fixture
def report(run, ada):
    block = "```seamark\nwidget: chart\ntitle: Loss {}\nmetrics: train/loss\nheight: 5\n```\n"
    text = f"What *helped*: {HOSTILE}\n\n" + "\n".join(map(block.format, range(4)))
    made = create_report(run.project, HOSTILE, user_id=ada.user_id)
    save_version(made, HOSTILE, text, user_id=ada.user_id, based_on=0)
    return made


def save(page: Page, item: str, folder: Path) -> Path:
    with page.expect_download(timeout=60_000) as saved:
        page.get_by_role("menuitem", name=f"Save as {item}").click()
    path = folder / f"saved.{item.lower()}"
    saved.value.save_as(path)
    return path


@pytest.fixture
def offline(browser):
    """Open a saved file where there is no network."""
    context = browser.new_context(offline=True)

    def open_file(path: Path) -> Page:
        page = context.new_page()
        page.goto(path.as_uri())
        return page

    yield open_file
    context.close()


def test_a_chart_is_saved_as_a_page_that_needs_no_network(
    visit, ada, run, tmp_path, offline
):
    page = visit(f"/runs/{run.id}/charts", ada)
    chart = page.locator(DRAWN).nth(1)
    chart.hover()
    chart.get_by_role("button", name="More").click()

    saved = offline(save(page, "HTML", tmp_path))

    expect(saved.locator(".js-plotly-plot path.js-line")).to_have_count(1)
    expect(saved.locator(".gtitle")).to_have_text(f"val/{HOSTILE}")
    assert saved.title() == f"val/{HOSTILE}"
    assert saved.evaluate("window.hacked") is None
    assert saved.locator("img").count() == 0


def test_a_report_is_saved_with_its_text_and_all_charts(
    visit, ada, report, tmp_path, offline
):
    page = visit(f"/reports/{report.id}/", ada)
    files = {}
    for item in ("HTML", "SVG", "PNG"):
        page.get_by_role("button", name="Save page").click()
        files[item] = save(page, item, tmp_path)

    saved = offline(files["HTML"])
    expect(saved.locator("main .js-plotly-plot path.js-line")).to_have_count(4)
    expect(saved.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    assert saved.evaluate("window.hacked") is None
    assert saved.locator("[aria-haspopup], form, input").count() == 0
    picture = offline(files["SVG"])
    assert picture.locator("img").count() == 4
    assert "What helped:" in " ".join(picture.locator("main").inner_text().split())
    assert files["PNG"].read_bytes().startswith(b"\x89PNG")
    assert page.locator("[data-part=paper]").get_attribute("media") == "print"
