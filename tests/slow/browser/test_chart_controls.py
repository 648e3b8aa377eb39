"""Controls of charts with several runs, and the requests for them."""

from __future__ import annotations

import csv
import html
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Download, Locator, Page, expect

from tests.builders import make_project, make_run, write_series
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now, open_options, wait_until
from tracker.actions.dashboards import create_dashboard
from tracker.actions.reports import create_report, save_version
from tracker.boards.board import Board, Place, Widget

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FORMULA = '=HYPERLINK("https://evil.test")'
MARKUP = "<img src=x onerror='window.hacked = 1'>"
EPOCH, LOSS = "train/epoch", "train/loss"
CHART = f"```seamark\nwidget: chart\nmetrics: {LOSS}\n```\n"
VALUES = ("2.5", "2", "1.5")


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def runs(project):
    """Three runs; the last one does not count its epochs."""
    found = []
    for name, epochs in ((FORMULA, 4), ("slow", 2), (MARKUP, 0)):
        run = make_run(project, name, "finished")
        write_series(run, LOSS, [2.5, 2.0, 1.5])
        if epochs:
            write_series(run, EPOCH, [0.0, epochs / 2, epochs])
        found.append(run)
    return found


@pytest.fixture
def compare(visit, ada, project, runs):
    def open_page(query: str = "") -> Page:
        ids = ",".join(str(run.id) for run in runs)
        address = f"/w/{project.workspace.slug}/{project.slug}/compare?runs={ids}"
        page: Page = visit(address + query, ada)
        return page

    return open_page


def chart(page: Page, path: str = LOSS) -> Locator:
    group = page.get_by_role("group", name=f"Chart of {path}", exact=True)
    return page.locator("figure").filter(has=group)


def drawn(page: Page, path: str = LOSS) -> Locator:
    found = chart(page, path)
    expect(found).to_have_attribute("data-drawn", "true")
    expect(found.locator(".chart__tools")).to_have_count(1)
    return found


def choose(page: Page, what: str, path: str = LOSS) -> None:
    found = drawn(page, path)
    found.hover()
    found.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name=what, exact=True).click()


def saved(page: Page, what: str) -> Download:
    with page.expect_download() as waiting:
        choose(page, what)
    return waiting.value


def expect_lines(page: Page, count: int, path: str = LOSS) -> None:
    expect(chart(page, path).locator("path.js-line")).to_have_count(count)


def rows_of(download: Download) -> list[list[str]]:
    with Path(download.path()).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_what_a_chart_shows_is_taken_along(compare):
    page = compare()

    table, picture = (
        saved(page, "Save as CSV"),
        saved(page, "Save as SVG"),
    )

    assert table.suggested_filename == "train-loss.csv"
    assert rows_of(table) == [
        ["line", "step", "value"],
        *([f"'{FORMULA}", str(step), value] for step, value in enumerate(VALUES)),
        *(["slow", str(step), value] for step, value in enumerate(VALUES)),
        *([MARKUP, str(step), value] for step, value in enumerate(VALUES)),
    ]
    # All names are on the picture, letter for letter.
    svg = Path(picture.path()).read_text(encoding="utf-8")
    assert "train/loss" in svg
    assert MARKUP in html.unescape(svg)
    assert "<img" not in svg
    assert saved(page, "Save as PNG").suggested_filename == "train-loss.png"
    every = page.get_by_role("menuitem", name="Save all points as CSV")
    drawn(page).get_by_role("button", name="More").click()
    expect(every).to_have_attribute(
        "href", re.compile(r"/points\?(run=[0-9a-f-]+&){3}path=train%2Floss&axis=step$")
    )
    assert violations(page) == []


def test_a_picture_is_copied(compare, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = compare()

    choose(page, "Copy as PNG")

    expect(page.get_by_text("Copied.")).to_be_visible()
    kinds = page.evaluate(
        "navigator.clipboard.read().then((items) => items.flatMap(({ types }) => types))"
    )
    assert kinds == ["image/png"]
    choose(page, "Copy as SVG")
    expect(page.locator(".toast")).to_have_count(1)
    page.wait_for_function(
        "navigator.clipboard.readText().then((text) => text.startsWith('<svg'))"
    )


def test_one_chart_fills_the_window_and_is_linked(compare):
    page = compare()
    found = drawn(page)
    found.hover()
    found.get_by_role("button", name="Full screen").click()
    dialog = page.get_by_role("dialog", name=LOSS)
    expect(dialog).to_be_visible()
    assert "full=train%2Floss" in address_now(page)

    page.reload(wait_until="networkidle")
    expect(dialog).to_be_visible()
    expect(page.get_by_role("tab", name="Charts")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert "full=" not in address_now(page)


def test_charts_are_laid_over_epochs_and_any_series(compare):
    page = compare()
    drawn(page)
    page.get_by_role("link", name="Epoch").click()

    expect_lines(page, 2)
    assert "over=train%2Fepoch" in address_now(page)
    notes = chart(page).locator(".chart__notes")
    expect(notes).to_contain_text(f"Not shown (no values of {EPOCH})")
    expect(notes).to_contain_text(MARKUP)
    assert page.evaluate("window.hacked") is None

    open_options(page)
    over = page.get_by_role("combobox", name="X axis")
    expect(over).to_have_value(EPOCH)
    over.fill(LOSS)
    over.press("Enter")
    expect_lines(page, 3)
    page.get_by_role("link", name="Step", exact=True).click()
    open_options(page)
    expect(page.get_by_role("combobox", name="X axis")).to_have_value("")
    expect_lines(page, 3)


def test_scales_clipping_and_smoothing_are_in_the_address(compare, runs):
    write_series(runs[0], "val/loss", [*np.sin(np.arange(300)).tolist(), 900.0])
    page = compare("&text=val/loss")
    drawn(page, "val/loss")

    open_options(page)
    page.get_by_text("Ignore outliers").click()
    expect(page.get_by_text("Outliers ignored: 1 of 301 points")).to_be_visible()
    open_options(page)
    page.get_by_text("Log x", exact=True).click()
    expect(page.get_by_label("Log x")).to_be_checked()
    expect(page.get_by_text("Values at or below 0 are not shown")).to_be_visible()
    slider = page.get_by_role("slider", name="Smoothing")
    slider.fill("0.37")
    page.wait_for_url("**smoothing=0.37**")

    expect(page.locator("output")).to_have_text("0.37")
    expect_lines(page, 2, "val/loss")
    for part in ("clip=1", "logx=1", "text=val%2Floss"):
        assert part in address_now(page)


def test_an_expression_finds_charts_and_its_mistake_is_explained(compare):
    page = compare()
    page.get_by_role("searchbox", name="Filter charts").fill("^(train|val)/l(")
    page.get_by_title("Regular expression").click()

    expect(page.get_by_text("Invalid regular expression: missing )")).to_be_visible()
    page.get_by_role("searchbox", name="Filter charts").fill("^(train|val)/l")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 chart", exact=True)).to_be_visible()
    drawn(page)


def test_charts_beside_the_runs_have_the_same(visit, ada, project, runs):
    page = visit(f"/w/{project.workspace.slug}/{project.slug}/?as=charts", ada)
    expect_lines(page, 3)
    drawn(page).get_by_role("button", name="Full screen").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=LOSS)
    expect(dialog).to_be_visible()
    page.reload(wait_until="networkidle")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    page.get_by_role("button", name="Epoch").click()
    expect_lines(page, 2)
    expect(page.get_by_role("button", name="Epoch")).to_have_attribute(
        "aria-pressed", "true"
    )
    open_options(page)
    page.get_by_text("Ignore outliers").click()
    page.locator(".charts__regex").click()
    text = page.get_by_role("searchbox", name="Filter charts")
    text.fill("(")
    mistake = page.get_by_text("Invalid regular expression: missing )")
    expect(mistake).to_be_visible()
    # The previous charts stay while typing.
    expect_lines(page, 2)
    text.fill("loss$")
    expect(mistake).to_be_hidden()
    expect(page.get_by_text("1 chart", exact=True)).to_be_visible()
    for part in ("over=train%2Fepoch", "clip=1", "regex=1", "text=loss%24"):
        assert part in address_now(page)

    page.get_by_role("link", name="Compare", exact=True).and_(
        page.locator("[data-part=compare]")
    ).click()
    expect_lines(page, 2)
    expect(page.get_by_label("Ignore outliers")).to_be_checked()
    open_options(page)
    expect(page.get_by_role("combobox", name="X axis")).to_have_value(EPOCH)


def test_a_chart_of_a_dashboard_is_taken_along_and_fills_the_window(
    visit, ada, project, runs
):
    place, far = Place(0, 0, 6, 4), Place(0, 20, 6, 4)
    widgets = tuple(
        Widget(id=name, kind="chart", place=at, settings={"metrics": [path]})
        for name, at, path in (("aaaa1111", place, LOSS), ("bbbb2222", far, EPOCH))
    )
    board = create_dashboard(
        project, "nightly", Board(widgets=widgets), user_id=ada.user_id
    )
    page = visit(f"/dashboards/{board.id}/", ada)

    table = saved(page, "Save as CSV")
    names = {row[0] for row in rows_of(table)}
    assert names == {"line", f"'{FORMULA}", "slow", MARKUP}
    drawn(page).get_by_role("button", name="Full screen").click()
    expect(page.get_by_role("dialog", name=LOSS)).to_be_visible()

    # A chart far below the window is shown as well.
    page.goto(page.url.replace("aaaa1111", "bbbb2222"))
    dialog = page.get_by_role("dialog", name=EPOCH)
    expect(dialog).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_chart_of_a_report_has_the_same_menu(visit, ada, project, runs):
    report = create_report(project, "What helped", user_id=ada.user_id)
    words = f"# Found\n\n{CHART}"
    save_version(report, "What helped", words, user_id=ada.user_id, based_on=0)

    page = visit(f"/reports/{report.id}/", ada)

    assert saved(page, "Save as SVG").suggested_filename == "train-loss.svg"


def test_the_bar_fits_a_telephone(compare):
    page = compare("&over=train/epoch")
    page.set_viewport_size(PHONE)
    drawn(page)

    # Charts follow a window that changes within moments.
    width = "document.documentElement.scrollWidth"
    wait_until(page, lambda: page.evaluate(width) == PHONE["width"])
    assert violations(page) == []


def test_rows_are_safe_and_numbers_are_as_python_writes_them(modules):
    text = modules.evaluate("""async () => {
      const { pointsCsv } = await import("/static/web/js/export/points_csv.js")
      const y = Float32Array.of(0.41, NaN, -Infinity)
      const x = [0, 1.5, Infinity]
      const lines = [
        { name: '@a,"b"', x, y, smooth: null, low: [0, 1, 2], high: [1, 2, -3] },
        { name: "", x: [-1], y: [1e-300], smooth: [2], low: null, high: null },
      ]
      return pointsCsv(lines, { places: "=x", isTime: false }) +
        pointsCsv([{ name: "t", x: [0, NaN], y: [1, 2] }], { places: "time", isTime: true })
    }""")

    assert text.split("\r\n") == [
        "line,'=x,value,smooth,lowest,highest",
        '"\'@a,""b""",0,0.41,,0,1',
        '"\'@a,""b""",1.5,nan,,1,2',
        '"\'@a,""b""",inf,-inf,,2,-3',
        ",-1,1e-300,2,1e-300,1e-300",
        "line,time,value",
        "t,1970-01-01T00:00:00.000Z,1",
        "t,,2",
        "",
    ]
