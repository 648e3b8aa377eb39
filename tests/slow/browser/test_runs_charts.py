"""The runs as charts next to a list with eyes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.builders import (
    make_project,
    make_run,
    points_message,
    write,
    write_series,
    write_values,
)
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now, wait_until
from tests.slow.browser.many_runs import add_runs
from tracker.models import State

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<img src=x onerror='window.hacked = 1'>"
PATIENCE = 20_000


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def open_runs(visit, ada, project):
    def open_page(query: str = "") -> Page:
        return visit(f"/w/{project.workspace.slug}/{project.slug}/{query}", ada)

    return open_page


def logged(project, name: str, *paths: str, state: State = State.FINISHED):
    run = make_run(project, name, state)
    values = [3.0, 2.0, 1.0]
    write(run, [points_message(path, values) for path in paths or ("train/loss",)])
    return run


def row(page: Page, name: str) -> Locator:
    link = page.get_by_role("link", name=name, exact=True)
    return page.get_by_role("row").filter(has=link)


def rows(page: Page) -> list[Locator]:
    return page.locator(".runs-grid__row[data-position]").all()


def eye(page: Page, name: str) -> Locator:
    return row(page, name).locator(".runs-grid__eye")


def expect_lines(page: Page, count: int, path: str = "train/loss") -> None:
    chart = page.get_by_role("group", name=f"Chart of {path}")
    expect(chart.locator("path.js-line")).to_have_count(count, timeout=PATIENCE)


def test_from_the_table_to_charts_without_a_run_and_back_by_the_address(
    open_runs, project
):
    for name in ("one", "two", HOSTILE):
        logged(project, name)
    page = open_runs()
    page.get_by_role("button", name="Charts", exact=True).click()
    expect(page.get_by_text("3 of 3 runs shown")).to_be_visible()
    expect_lines(page, 3)
    assert address_now(page).endswith("?as=charts")
    assert violations(page) == []

    # No reload: existing charts keep their elements.
    page.evaluate("document.querySelector('.chart').dataset.same = 'yes'")
    eye(page, "one").click()
    expect_lines(page, 2)
    expect(page.get_by_text("2 of 3 runs shown")).to_be_visible()
    expect(row(page, "one")).to_have_class(re.compile("runs-grid__row--unseen"))
    expect(page.locator(".chart")).to_have_attribute("data-same", "yes")

    page.get_by_label("Filter by name or tag").fill("two")
    expect(page.get_by_text("1 of 1 run shown")).to_be_visible(timeout=PATIENCE)
    expect_lines(page, 1)

    page.reload(wait_until="networkidle")
    expect(page.get_by_text("1 of 1 run shown")).to_be_visible()
    expect_lines(page, 1)
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.get_by_text("2 of 3 runs shown")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Table", exact=True).click()
    expect(page.get_by_role("columnheader").filter(has_text="Started")).to_be_visible()
    expect(page.get_by_role("region", name="Charts")).to_be_hidden()
    assert page.evaluate("window.hacked") is None


def test_the_first_ten_are_shown_and_any_other_by_its_eye(open_runs, project):
    runs = add_runs(project, 30)
    for run in runs[:12]:
        write_series(run, "train/loss", [2.0, 1.0])
    page = open_runs("?as=charts&sort=name")
    expect(page.get_by_text("10 of 30 runs shown")).to_be_visible()
    expect_lines(page, 10)

    eye(page, "run 00011").click()
    expect(page.get_by_text("11 of 30 runs shown")).to_be_visible()
    expect_lines(page, 11)
    eye(page, "run 00002").click(modifiers=["Alt"])
    expect(page.get_by_text("1 of 30 runs shown")).to_be_visible()
    expect_lines(page, 1)
    eye(page, "run 00005").click(modifiers=["Shift"])
    expect_lines(page, 4)

    page.get_by_role("button", name="None", exact=True).click()
    expect(page.get_by_role("heading", name="All runs are hidden")).to_be_visible()
    page.get_by_role("button", name="Show first runs").click()
    expect(page.get_by_text("10 of 30 runs shown")).to_be_visible()
    expect_lines(page, 10)
    assert address_now(page).endswith("?sort=name&as=charts")


def test_no_more_are_shown_than_can_be_told_apart(open_runs, project):
    add_runs(project, 200)
    page = open_runs("?as=charts")
    most = int(page.locator(".runs").get_attribute("data-runs-at-most") or "")
    grid = page.get_by_role("grid", name="Runs")

    expect(page.get_by_text("10 newest of 200 runs")).to_be_visible()
    eye(page, "run 00010").click()
    expect(page.get_by_text("11 of 200 runs shown")).to_be_visible()
    for _ in range(200 // 10):
        grid.press("PageDown")
    grid.press("End")
    expect(row(page, "run 00199")).to_be_visible(timeout=PATIENCE)
    eye(page, "run 00199").click(modifiers=["Shift"])

    expect(page.get_by_text(f"{most} of 200 runs shown")).to_be_visible(
        timeout=PATIENCE
    )
    expect(page.get_by_text(f"Charts show at most {most} runs")).to_be_visible()


def test_eyes_answer_keys(open_runs, project):
    for name in ("one", "two"):
        logged(project, name)
    page = open_runs("?as=charts")
    expect_lines(page, 2)

    grid = page.get_by_role("grid", name="Runs")
    grid.press("ArrowDown")
    grid.press("e")
    expect(page.get_by_text("1 of 2 runs shown")).to_be_visible()
    expect_lines(page, 1)
    grid.press("o")
    expect(page.get_by_text("1 of 2 runs shown")).to_be_visible()
    expect_lines(page, 1)
    assert "eyes=none" in address_now(page)


def test_charts_come_and_go_with_runs_and_the_others_stay(open_runs, project):
    logged(project, "plain")
    logged(project, "rich", "eval/loss", "train/loss", "train/rate")
    page = open_runs("?as=charts")
    expect(page.locator(".chart")).to_have_count(3)
    page.locator(".charts__section[data-key='train/'] summary").click()

    eye(page, "rich").click()
    expect(page.locator(".chart")).to_have_count(1)
    # A section that the user folded stays folded.
    section = page.locator(".charts__section[data-key='train/']")
    expect(section).not_to_have_attribute("open", "")
    eye(page, "rich").click()
    # A folded section loads its new charts when it is opened.
    expect(page.locator(".chart[data-path='eval/loss']")).to_have_count(1)
    section.locator("summary").click()
    expect(page.locator(".chart")).to_have_count(3)

    page.get_by_label("Filter charts by path").fill("RATE")
    expect(page.locator(".chart")).to_have_count(1)
    page.get_by_label("Filter charts by path").fill("xyz")
    expect(page.get_by_role("heading", name="No series path")).to_be_visible()
    page.get_by_role("button", name="Show all charts").click()
    expect(page.locator(".chart")).to_have_count(3)


def test_how_charts_are_drawn_is_in_the_address(open_runs, project):
    for name in ("one", "two"):
        logged(project, name)
    page = open_runs("?as=charts")
    expect_lines(page, 2)

    with page.expect_request(lambda request: "smoothing=0.6" in request.url):
        page.get_by_role("slider", name="Smoothing").fill("0.6")
    expect_lines(page, 4)
    page.get_by_role("button", name="Relative time").click()
    expect(page.locator(".xtitle").first).to_contain_text("since")
    assert "smoothing=0.6" in address_now(page)
    assert "axis=relative" in address_now(page)

    page.get_by_role("link", name="Compare", exact=True).last.click()
    page.wait_for_url("**/compare?**")
    assert "smoothing=0.6" in address_now(page)
    expect(page.get_by_role("list", name="Compared runs")).to_contain_text("one")


def test_dots_have_the_colors_of_the_lines_of_groups(open_runs, project):
    for name, optimizer in [("one", "sgd"), ("two", "adam"), ("three", "sgd")]:
        write_values(logged(project, name), {"params/optimizer": optimizer})
    page = open_runs("?as=charts&together=params/optimizer")

    for name, group in [("one", 1), ("two", 0), ("three", 1)]:
        dot = row(page, name).locator(".runs-grid__dot")
        expect(dot).to_have_class(re.compile(rf"run-colour--{group}\b"))


def test_the_run_under_the_pointer_stands_out(open_runs, project):
    # With fewer runs, one box names all of them.
    for number in range(9):
        logged(project, f"run {number}")
    page = open_runs("?as=charts")
    expect_lines(page, 9)

    row(page, "run 1").hover()
    expect(page.locator(".chart__plot--lit .trace.chart__lit")).to_have_count(1)
    page.get_by_label("Filter by name or tag").hover()
    expect(page.locator(".chart__plot--lit")).to_have_count(0)
    page.locator(".nsewdrag").hover()
    expect(page.locator(".runs-grid__row.is-pointed")).to_have_count(1)


def test_a_run_that_begins_on_top_is_drawn(open_runs, project):
    logged(project, "old")
    page = open_runs("?as=charts")
    expect_lines(page, 1)

    logged(project, "new", state=State.RUNNING)

    expect(page.get_by_text("2 of 2 runs shown")).to_be_visible(timeout=PATIENCE)
    expect_lines(page, 2)


def test_on_a_phone_the_list_is_folded_above_the_charts(open_runs, page, project):
    page.set_viewport_size(PHONE)
    logged(project, "one")
    page = open_runs("?as=charts")
    expect_lines(page, 1)

    expect(row(page, "one")).to_be_hidden()
    page.get_by_role("button", name="Runs", exact=True).click()
    expect(row(page, "one")).to_be_visible()
    eye(page, "one").click()
    expect(page.get_by_role("heading", name="All runs are hidden")).to_be_visible()
    assert violations(page) == []


def colours(page: Page) -> list[str]:
    chart = page.get_by_role("group", name="Chart of train/loss")
    lines = chart.locator("path.js-line")
    return lines.evaluate_all("lines => lines.map((line) => line.style.stroke)")


def test_a_colour_is_chosen_at_the_dot_or_by_key_and_is_in_the_address(
    open_runs, project
):
    for name in ("one", "two", "three"):
        logged(project, name)
    page = open_runs("?as=charts")
    expect_lines(page, 3)
    before = colours(page)
    first, second = (row.get_by_role("link").inner_text() for row in rows(page)[:2])
    menu = page.get_by_role("menu", name="Color")

    row(page, first).locator(".runs-grid__dot").click()
    blue = menu.get_by_role("menuitemradio", name="Blue", checked=True)
    expect(blue).to_be_focused()
    expect(
        menu.get_by_role("menuitemradio", name=f"Orange {second}", exact=True)
    ).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(menu).to_be_hidden()
    expect(row(page, first)).to_have_attribute("data-slot", "1")
    expect(row(page, second)).to_have_attribute("data-slot", "0")
    expect(page.get_by_role("grid", name="Runs")).to_be_focused()
    wait_until(page, lambda: colours(page) == [before[1], before[0], before[2]])

    page.reload(wait_until="networkidle")
    expect(row(page, first)).to_have_attribute("data-slot", "1")
    # Hidden runs have no color to choose.
    page.get_by_role("grid", name="Runs").focus()
    page.keyboard.press("e")
    page.keyboard.press("c")
    expect(page.get_by_text("Show the run in charts first")).to_be_visible()
    expect(menu).to_be_hidden()


def test_a_ticked_run_has_the_chosen_colour_in_table_charts_and_comparison(
    open_runs, project
):
    runs = {name: logged(project, name) for name in ("two", "one")}
    page = open_runs()
    for name in ("one", "two"):
        row(page, name).locator(".runs-grid__mark").click()
    page.keyboard.press("c")
    page.get_by_role("menuitemradio", name="Violet").click()
    expect(page).to_have_url(re.compile(r"colours=0\.3"))
    row(page, "one").locator(".runs-grid__dot").click()
    expect(page.get_by_role("menuitemradio", name="Violet two")).to_be_visible()
    page.keyboard.press("Escape")

    compare = page.locator("[data-part=compare]")
    assert f"runs={runs['one'].id},{runs['two'].id}" in compare.get_attribute("href")
    assert "colours=0.3" in compare.get_attribute("href")
    page.get_by_role("button", name="Charts", exact=True).click()
    expect(row(page, "two")).to_have_attribute("data-slot", "3")


def test_charts_of_one_run_leave_room_for_those_that_runs_share_and_load_on_scroll(
    open_runs, project
):
    """A run with 290 separate series next to one with train/ and val/."""
    debug = [f"debug/layer_{number:03}" for number in range(290)]
    logged(project, "wide", "train/loss", "val/loss", *debug)
    logged(project, "usual", "train/loss", "val/loss")
    page = open_runs("?as=charts")
    expect_lines(page, 2)

    sections = page.locator('[data-part="section"]:not([hidden])')
    heads = sections.locator("summary")
    expect(heads).to_have_text(
        [re.compile(text) for text in ("train/ *1", "val/ *1", r"debug/layer_\* *290")]
    )
    heads.nth(2).click()
    charts = sections.nth(2).locator(".chart")
    assert charts.count() < 100
    last = page.get_by_role("group", name=f"Chart of {debug[-1]}")
    more = page.get_by_role("button", name=re.compile("^Show .* more$"))
    while more.is_visible():
        count = charts.count()
        more.scroll_into_view_if_needed()
        wait_until(page, lambda count=count: charts.count() > count)
    last.scroll_into_view_if_needed()
    expect_lines(page, 1, debug[-1])
    assert charts.count() == 290

    # Another list of the same charts leaves those that were added.
    eye(page, "usual").click()
    charts_of_train = page.locator('[data-section="train/"] .chart')
    charts_of_train.scroll_into_view_if_needed()
    expect_lines(page, 1)
    assert charts.count() == 290


def test_names_in_the_list_are_cut_once_and_keep_their_ends(open_runs, project):
    names = [
        f"vit-b16-in1k-pretrained_lr{rate}_wd0.05_randaug-m9-n2_seed{seed}"
        for rate in ("1e-3", "1e-4")
        for seed in range(2)
    ]
    for name in names:
        logged(project, name)
    page = open_runs("?as=charts")

    for name in names:
        link = page.get_by_role("link", name=name, exact=True)
        expect(link).to_have_attribute("data-cut", re.compile("^[^…]*…[^…]*$"))
        shown = link.get_attribute("data-cut") or ""
        assert shown.endswith(name.removeprefix("vit-b16-in1k-pretrained_"))
        assert link.text_content() == name

        before = link.bounding_box()
        link.hover()
        assert link.bounding_box() == before
        pin = row(page, name).locator(".runs-grid__pin").bounding_box()
        assert pin["x"] >= before["x"] + before["width"]
        assert link.get_attribute("data-cut") == shown


def test_the_color_is_the_only_dot_next_to_a_name(open_runs, project):
    logged(project, "done")
    logged(project, "broken", state=State.FAILED)
    page = open_runs("?as=charts")
    expect_lines(page, 2)

    state = ".runs-grid__state"
    expect(row(page, "done").locator(state)).to_be_hidden()
    expect(row(page, "broken").locator(state)).to_be_visible()
    link = page.get_by_role("link", name="broken", exact=True).bounding_box()
    sign = row(page, "broken").locator(state).bounding_box()
    assert sign["x"] >= link["x"] + link["width"]

    places = [
        page.get_by_role("link", name=name, exact=True).bounding_box()["x"]
        for name in ("done", "broken")
    ]
    eye(page, "done").click()
    expect_lines(page, 1)
    hidden = page.get_by_role("link", name="done", exact=True).bounding_box()["x"]
    assert [hidden, places[0]] == [places[1], places[1]]
