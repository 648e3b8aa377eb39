"""Arranging charts of several runs, on the comparison and next to the list."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.builders import make_project, make_run, write_series, write_values
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now, open_options, wait_until
from tests.slow.browser.test_chart_page import BOX, JOINED, PINNED, choose, join
from tests.slow.browser.test_compared_charts import compared, point_at
from tracker.models import State

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DRAWN = '.chart[data-drawn="true"]'
PATIENCE = 20_000
PATHS = ("train/loss", "train/accuracy", "val/loss")
LOSS = ".chart[data-path='train/loss']"
VAL = ".chart[data-path='val/loss']"
BESIDE = "/w/ada-workspace/vision/?as=charts"
KIND = "chart => chart.querySelector('.chart__plot')._fullLayout?.yaxis.type"


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def runs(project):
    made = []
    for height, name in enumerate(("low", "high"), start=1):
        run = make_run(project, name, State.FINISHED)
        for path in PATHS:
            write_series(run, path, [height * value for value in (3.0, 2.0, 1.0)])
        write_values(run, {"params/kind": name})
        made.append(run)
    return made


@pytest.fixture(params=["compare", "beside"])
def charts(request, visit, ada, runs):
    """Opens the charts of both runs, on the page of each kind."""

    def open_page() -> Page:
        page = visit(compared(*runs) if request.param == "compare" else BESIDE, ada)
        # The visible ones: not all large charts fit.
        expect(page.locator(DRAWN).first).to_be_visible(timeout=PATIENCE)
        return page

    return open_page


def wait_for_charts(page: Page, count: int = len(PATHS)) -> None:
    expect(page.locator(DRAWN)).to_have_count(count, timeout=PATIENCE)


def pin(page: Page, chart: Locator) -> None:
    chart.hover()
    with page.expect_response("**/charts/arrangement") as kept:
        chart.get_by_role("button", name="Pin to top").click()
    assert kept.value.status == 204


def test_a_chart_is_pinned_on_all_pages_of_the_project(charts, visit, ada, runs):
    page = charts()
    pin(page, page.locator(VAL))
    expect(page.locator(PINNED)).to_have_attribute("data-path", "val/loss")
    # It is drawn, and moving it does not redraw it.
    expect(page.locator(f"{PINNED} path.js-line")).to_have_count(2)
    layout = parse_qs(urlsplit(address_now(page)).query)["layout"]
    assert layout == ['{"pinned":[["val/loss"]]}']

    # Saved for this user, on a run's page too, without the address.
    page = charts()
    expect(page.locator(PINNED)).to_have_attribute("data-path", "val/loss")
    assert violations(page) == []
    visit(f"/runs/{runs[0].id}/charts", ada)
    expect(page.locator(PINNED)).to_have_attribute("data-path", "val/loss")

    page = charts()
    page.locator(PINNED).hover()
    with page.expect_response("**/charts/arrangement"):
        page.get_by_role("button", name="Unpin from top").click()
    expect(page.locator(PINNED)).to_have_count(0)
    expect(page.locator(f"[data-section='val/'] {VAL}")).to_be_visible()
    wait_for_charts(charts())
    expect(page.locator(PINNED)).to_have_count(0)


def test_charts_are_as_large_as_their_reader_wants_them(charts):
    page = charts()
    before = page.locator(LOSS).bounding_box()
    assert before
    handle = page.locator(LOSS).get_by_role("button", name="Resize")
    handle.focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    with page.expect_response("**/charts/arrangement"):
        page.keyboard.press("ArrowDown")

    page = charts()
    plot = f'document.querySelector("{LOSS} .chart__plot")._fullLayout?.height'
    wait_until(page, lambda: (page.evaluate(plot) or 0) >= 300)
    # Otherwise the next wait would match this response.
    with page.expect_response("**/charts/arrangement"):
        choose(page, page.locator(LOSS), "Reset size")
    wait_until(
        page, lambda: height_of(page, LOSS) == pytest.approx(before["height"], abs=2)
    )
    open_options(page)
    with page.expect_response("**/charts/arrangement"):
        page.get_by_role("button", name="Large charts").click()

    page = charts()
    open_options(page)
    expect(page.get_by_role("button", name="Large charts")).to_have_attribute(
        "aria-pressed", "true"
    )
    assert height_of(page, VAL) > before["height"] + 100


def test_a_wide_chart_is_no_wider_than_a_window_that_became_narrow(charts):
    page = charts()
    page.locator(LOSS).get_by_role("button", name="Resize").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(LOSS)).to_have_attribute("data-columns", "2")

    page.set_viewport_size(PHONE)

    wait_until(page, lambda: width_of(page, LOSS) == width_of(page, VAL))


def width_of(page: Page, chart: str) -> float:
    box = page.locator(chart).bounding_box()
    return box["width"] if box else 0.0


def height_of(page: Page, chart: str) -> float:
    box = page.locator(chart).bounding_box()
    return box["height"] if box else 0.0


def test_one_chart_of_all_runs_is_logarithmic_by_itself(charts):
    page = charts()
    page.locator(LOSS).hover()
    page.locator(LOSS).get_by_role("button", name="More").click()
    with page.expect_response("**/charts/arrangement"):
        page.get_by_role("menuitemcheckbox", name="Logarithmic").click()
    wait_until(page, lambda: page.locator(LOSS).evaluate(KIND) == "log")

    page = charts()
    wait_for_charts(page)
    assert page.locator(LOSS).evaluate(KIND) == "log"
    assert page.locator(VAL).evaluate(KIND) == "linear"


def test_series_are_joined_as_lines_of_each_run_and_taken_apart(charts):
    page = charts()
    chart = join(page, "train/loss", "val/loss")
    expect(chart.locator("path.js-line")).to_have_count(4)
    # Runs keep their colors, and series have dashes.
    point_at(page, chart, 0.5)
    rows = page.locator(f"{BOX} .chart__row")
    expect(rows).to_have_count(4)
    expect(page.locator(BOX)).to_contain_text("low · train/loss")
    strokes = page.locator(f"{BOX} .chart__stroke path").all()
    assert {each.get_attribute("stroke") for each in strokes} == {
        "var(--run-0)",
        "var(--run-1)",
    }
    assert {each.get_attribute("stroke-dasharray") for each in strokes} == {None, "6,6"}

    page.wait_for_load_state("networkidle")
    page.reload()
    expect(page.locator(f"{JOINED} path.js-line")).to_have_count(4, timeout=PATIENCE)
    choose(page, page.locator(JOINED), "Split chart")
    expect(page.locator(JOINED)).to_have_count(0)
    wait_until(page, lambda: "layout" not in address_now(page))


def test_changes_are_undone_and_done_again_by_keys(charts):
    page = charts()
    open_options(page)
    logarithmic = page.get_by_label("Log y")
    logarithmic.check(force=True)
    wait_for_axes(page, "log")
    wait_until(page, lambda: changes(page) == 2)
    pin(page, page.locator(VAL))
    wait_until(page, lambda: changes(page) == 3)

    page.keyboard.press("Control+z")
    expect(page.locator(PINNED)).to_have_count(0)
    wait_for_charts(page)
    expect(logarithmic).to_be_checked()
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Control+z")
    expect(logarithmic).not_to_be_checked()
    wait_for_axes(page, "linear")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Control+z")
    expect(page.locator(".toast")).to_contain_text("Nothing to undo")

    page.keyboard.press("Control+Shift+z")
    expect(logarithmic).to_be_checked()
    wait_for_axes(page, "log")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Control+Shift+z")
    expect(page.locator(PINNED)).to_have_attribute("data-path", "val/loss")


def wait_for_axes(page: Page, kind: str) -> None:
    page.wait_for_function(
        """kind => {
          const plots = [...document.querySelectorAll(".chart[data-drawn] .chart__plot")]
          return plots.length && plots.every(({ _fullLayout }) => _fullLayout?.yaxis?.type === kind)
        }""",
        arg=kind,
    )


def changes(page: Page) -> int:
    stored = """() => Object.keys(sessionStorage).filter((key) => key.startsWith("chart-changes:"))
      .map((key) => JSON.parse(sessionStorage[key]).states.length)"""
    return max(page.evaluate(stored), default=0)


def test_a_text_is_put_at_a_point_of_the_run_that_was_clicked(charts, visit, ada, runs):
    page = charts()
    chart = page.locator(LOSS)
    # The higher line at its last but one point.
    point_at(page, chart, 0.5, 0.4)
    expect(page.locator(f"{BOX} .chart__row").first).to_contain_text("high")
    page.mouse.down()
    page.mouse.up()
    choose(page, chart, "Annotate…")
    dialog = page.get_by_role("dialog", name="Annotate")
    chosen = dialog.get_by_role("combobox", name="Run", exact=True)
    expect(chosen).to_have_value(str(runs[1].id))
    expect(dialog.get_by_label("Step")).to_have_value("1")
    assert violations(page) == []
    dialog.get_by_label("Text").fill("new data from here")
    dialog.get_by_role("button", name="Save").click()

    mark = chart.get_by_role("button", name="high at step 1: new data from here")
    expect(mark).to_be_visible()
    joined = join(page, "val/loss", "train/loss")
    expect(joined.get_by_role("button", name="high at step 1")).to_be_visible()
    visit(f"/runs/{runs[1].id}/charts", ada)
    expect(page.locator(f"{LOSS} .annotation-text")).to_have_text("new data from here")


def test_texts_are_not_offered_where_nobody_would_see_them(visit, ada, runs):
    page = visit(compared(*runs, query="&bare=1"), ada)
    wait_for_charts(page)
    page.locator(LOSS).hover()
    page.locator(LOSS).get_by_role("button", name="More").click()

    expect(page.get_by_role("menuitem", name="Combine with")).to_be_visible()
    expect(page.get_by_role("menuitem", name="Annotate…")).to_be_hidden()


def test_a_series_that_is_divided_moves_as_a_whole(visit, ada, runs):
    page = visit(compared(*runs, query="&chart=params/kind"), ada)
    wait_for_charts(page, 2 * len(PATHS))
    chart = page.locator(".chart[data-title='val/loss, low']")
    pin(page, chart)
    expect(page.locator(f"{PINNED} >> visible=true")).to_have_count(2)
    handle = chart.get_by_role("button", name="Resize")
    handle.focus()
    with page.expect_response("**/charts/arrangement"):
        page.keyboard.press("ArrowDown")
    expect(page.locator(f"{PINNED}[data-height]")).to_have_count(2)

    page.reload()
    wait_for_charts(page, 2 * len(PATHS))
    expect(page.locator(f"{PINNED}[data-height]")).to_have_count(2)
    join_anew(page, "train/loss", "val/loss")
    expect(page.locator(f"{JOINED}[data-drawn=true]")).to_have_count(
        2, timeout=PATIENCE
    )


def join_anew(page: Page, *paths: str) -> None:
    if page.locator(".compare-options").count():
        open_options(page)
    page.get_by_role("button", name="Combine series").click()
    dialog = page.get_by_role("dialog")
    for path in paths:
        dialog.get_by_label(path, exact=True).check()
    dialog.get_by_role("button", name="Show").click()


def test_links_of_a_comparison_keep_what_was_arranged(visit, ada, runs):
    page = visit(compared(*runs), ada)
    wait_for_charts(page)
    pin(page, page.locator(VAL))

    page.get_by_role("link", name="Side by side").click()
    page.get_by_role("link", name="Charts", exact=True).first.click()

    expect(page.locator(PINNED)).to_have_attribute("data-path", "val/loss")
    expect(page).to_have_url(re.compile("layout="))
