"""Comparing runs as a person does it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.builders import make_project, make_run, write_series, write_values
from tests.ladder_runs import DEMO, make_measured_run
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now, open_options
from tracker.models import Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TABS = [
    *("charts", "table", "media", "source"),
    *("parallel", "scatter", "hardware", "findings"),
]


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def runs(project):
    return [make_measured_run(project, job) for job in DEMO[:3]]


def address(*runs, **query: str) -> str:
    ids = ",".join(str(run.id) for run in runs)
    more = "".join(f"&{name}={value}" for name, value in query.items())
    return f"/w/ada-workspace/vision/compare?runs={ids}{more}"


SHOWS_ITS_END = """(link) => {
  const end = link.querySelector(".cut > :last-child")
  const [outer, inner] = [link, end].map((each) => each.getBoundingClientRect())
  return end.scrollWidth <= end.clientWidth && inner.right <= outer.right + 1
}"""


def wait_for_charts(page: Page, count: int) -> None:
    expect(page.locator('.chart[data-drawn="true"]')).to_have_count(
        count, timeout=20_000
    )


def test_runs_are_found_added_and_removed(visit, ada, runs):
    page = visit("/w/ada-workspace/vision/compare", ada)

    for name in ("baseline", "decoded"):
        page.get_by_role("searchbox", name="Add a run").fill(name[:4])
        page.locator("#compare-found").get_by_role("link", name=name).click()
    compared = page.get_by_role("list", name="Compared runs")
    expect(compared.get_by_role("listitem")).to_have_count(2)

    compared.get_by_role("button", name="Options of baseline").click()
    page.get_by_role("menuitem", name="Remove").click()
    expect(compared.get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_role("heading", name="Add a second run")).to_be_visible()


def test_every_series_is_drawn_with_a_line_for_each_run(visit, ada, project):
    runs = [make_run(project, name) for name in ("<b>bold</b>", "plain")]
    for run in runs:
        write_series(run, "train/loss", [3.0, 2.0, 1.0])

    page = visit(address(*runs), ada)
    wait_for_charts(page, 1)

    chart = page.get_by_role("group", name="Chart of train/loss")
    expect(chart.locator("path.js-line")).to_have_count(2)
    chart.hover()
    expect(page.locator(".chart__box")).to_contain_text("<b>bold</b>")


def test_a_zoom_asks_for_finer_points_until_it_is_reset(visit, ada, runs):
    page = visit(address(*runs[:2], text="loss"), ada)
    wait_for_charts(page, 1)

    with page.expect_request(lambda request: "low=" in request.url):
        box = page.locator(".nsewdrag").bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=4)
        page.mouse.up()

    reset = page.get_by_role("button", name="Reset zoom")
    with page.expect_request(lambda request: "low=" not in request.url):
        reset.click()
    expect(reset).to_be_hidden()


def test_only_differences_until_asked_for_everything(visit, ada, runs):
    page = visit(address(*runs, tab="table"), ada)
    table = page.get_by_role("table")

    expect(table.get_by_role("rowheader", name="batch_size")).to_have_count(0)
    expect(table.get_by_role("rowheader", name="workers")).to_be_visible()

    page.get_by_role("switch", name="Only differences").click()
    expect(table.get_by_role("rowheader", name="batch_size")).to_be_visible()


def test_changed_cells_say_by_how_much(visit, ada, runs):
    page = visit(address(*runs, tab="table"), ada)

    row = page.get_by_role("row", name="accuracy_on_test")
    expect(row.get_by_role("cell")).to_have_text(
        [
            "0.95",
            "0.951+0.001 (+0.1 %)",
            "0.949\N{MINUS SIGN}0.001 (\N{MINUS SIGN}0.1 %)",
        ]
    )
    expect(row.locator(".compare-table__changed")).to_have_count(2)


def test_another_reference_turns_the_differences_round(visit, ada, runs):
    page = visit(address(*runs[:2], tab="table"), ada)

    page.get_by_role("button", name="Options of baseline").click()
    expect(page.get_by_role("menuitem", name="Set as reference")).to_be_hidden()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Options of decoded").click()
    page.get_by_role("menuitem", name="Set as reference").click()

    row = page.get_by_role("row", name="accuracy_on_test")
    expect(row.get_by_role("cell").first).to_contain_text("\N{MINUS SIGN}0.001")


def test_what_the_agent_measured_opens_on_demand(visit, ada, runs):
    page = visit(address(*runs, tab="table"), ada)
    top = page.get_by_title("monitoring", exact=True)
    expect(top).to_have_attribute("aria-expanded", "false")

    top.click()
    page.get_by_title("monitoring/train/step", exact=True).click()

    expect(page.get_by_role("rowheader", name="data_wait_seconds")).to_be_visible()


def test_rows_can_be_narrowed_by_their_path(visit, ada, runs):
    page = visit(address(*runs, tab="table"), ada)

    page.get_by_role("searchbox", name="Filter rows").fill("FACTS/load")
    expect(page.get_by_role("rowheader", name="loader_workers")).to_be_visible()
    expect(page.get_by_role("rowheader", name="workers", exact=True)).to_be_hidden()

    page.get_by_role("searchbox", name="Filter rows").fill("nothing like it")
    expect(page.get_by_role("heading", name="No matching paths")).to_be_visible()


def test_equal_runs_say_that_they_do_not_differ(visit, ada, project):
    page = visit(address(*(make_run(project, name) for name in "ab"), tab="table"), ada)

    expect(
        page.get_by_role("heading", name=("No differences between these runs"))
    ).to_be_visible()


def test_a_thousand_attributes_come_by_themselves_and_more_on_demand(
    visit, ada, project
):
    runs = [make_run(project, name) for name in ("a", "b")]
    write_values(runs[0], {f"params/p{number}": number for number in range(1_200)})

    page = visit(address(*runs, tab="table"), ada)
    expect(page.get_by_text("1000 of 1200 attributes", exact=True)).to_be_visible(
        timeout=20_000
    )

    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_text("1200 of 1200 attributes", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()


def test_keys_open_the_tabs(visit, ada, runs):
    page = visit(address(*runs), ada)

    page.keyboard.press("2")

    expect(page.get_by_role("link", name="Side by side")).to_have_attribute(
        "aria-current", "page"
    )


def test_a_run_is_hidden_and_keeps_its_colour(visit, ada, runs):
    page = visit(address(*runs, text="loss"), ada)
    page.get_by_role("button", name="Hide baseline").click()
    wait_for_charts(page, 1)

    assert "hidden=0" in address_now(page)
    expect(page.locator("path.js-line")).to_have_count(2)
    expect(page.get_by_role("button", name="Show baseline")).to_be_visible()


def colours_of(page: Page) -> dict[str, str]:
    """Return which color the line of each run has in the only chart."""
    lines = page.locator(".chart__plot").evaluate(
        "plot => plot.data.map(({ name, line }) => [name, line.color])"
    )
    return dict(lines)


def test_a_run_is_given_a_colour_by_keys_and_the_other_one_takes_its(visit, ada, runs):
    page = visit(address(*runs, text="loss", hidden="2"), ada)
    wait_for_charts(page, 1)
    before = colours_of(page)
    dot = page.get_by_role("button", name="Options of baseline")
    menu = page.get_by_role("menu", name="Run options")

    dot.press("Enter")
    expect(menu.get_by_role("menuitem", name="Remove")).to_be_focused()
    page.keyboard.press("ArrowDown")
    blue = menu.get_by_role("menuitemradio", name="Blue", checked=True)
    expect(blue).to_be_focused()
    expect(menu.get_by_role("menuitemradio")).to_have_count(10)
    expect(dot).to_have_attribute("aria-expanded", "true")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(dot).to_be_focused()
    expect(dot).to_have_attribute("aria-expanded", "false")

    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(menu.get_by_role("menuitemradio", name="Orange decoded")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"colours=1\.0\.2"))
    expect(dot).to_be_focused()
    wait_for_charts(page, 1)

    assert "hidden=2" in address_now(page)
    assert colours_of(page) == {
        "baseline": before["decoded"],
        "decoded": before["baseline"],
    }


def test_a_colour_is_chosen_on_a_phone_and_lasts_in_other_tabs(visit, ada, runs):
    page = visit(address(*runs, tab="table"), ada)
    page.set_viewport_size({"width": 390, "height": 760})
    page.get_by_role("button", name="Options of workers").click()
    menu = page.get_by_role("menu", name="Run options").bounding_box()
    assert menu["x"] >= 0
    assert menu["x"] + menu["width"] <= 390

    page.get_by_role("menuitemradio", name="Plum").click()
    expect(page).to_have_url(re.compile(r"colours=0\.1\.9"))
    expect(page.locator("thead .run-colour--9")).to_have_count(1)
    page.get_by_role("link", name="Findings").click()
    expect(page.locator("thead .run-colour--9")).to_have_count(1)


def test_nothing_covers_the_name_of_a_run_under_the_pointer(visit, ada, project):
    names = [f"a-name-that-fills-the-whole-list-of-runs-{n}" for n in range(2)]
    page = visit(address(*(make_run(project, name) for name in names)), ada)
    row = page.locator(".compare-run").last
    row.hover()

    for part in row.locator(":scope > :not(.compare-run__name)").all():
        box, name = part.bounding_box(), row.locator(".clip").first.bounding_box()
        is_beside = not box or not name or box["x"] + box["width"] <= name["x"] + 1
        assert is_beside or box["x"] >= name["x"] + name["width"] - 1


def test_the_ends_of_long_names_are_shown_on_a_phone(visit, ada, project, page):
    names = [
        f"resnet50-imagenet-augmented-cosine-schedule-lr-0.003-seed-{number}"
        for number in range(2)
    ]
    runs = [make_run(project, name, "finished") for name in names]
    other = make_run(make_project(ada, "speech"), names[0], "finished")
    page.set_viewport_size(PHONE)

    for compared in (runs, [*runs, other]):
        visit(address(*compared, tab="table"), ada)
        links = page.locator(".compare-run__name")
        expect(links).to_have_count(len(compared))
        for link in links.all():
            assert link.evaluate(SHOWS_ITS_END)


def test_a_phone_lists_six_runs_and_shows_that_more_scroll(visit, ada, project, page):
    runs = [make_run(project, f"run-{number}", "finished") for number in range(8)]
    page.set_viewport_size(PHONE)
    heights = "list => [list.scrollHeight, list.clientHeight]"

    visit(address(*runs[:6]), ada)
    needed, shown = page.locator(".compare-runs__list").evaluate(heights)
    assert needed == shown

    visit(address(*runs), ada)
    needed, shown = page.locator(".compare-runs__list").evaluate(heights)
    row = needed / len(runs)
    assert 6.3 < shown / row < 6.7


def test_what_is_searched_in_the_table_is_in_the_address(visit, ada, runs):
    page = visit(address(*runs, tab="table"), ada)
    page.get_by_role("searchbox", name="Filter rows").fill("loader_w")

    page.reload()

    expect(page.get_by_role("rowheader", name="loader_workers")).to_be_visible()
    expect(page.get_by_role("rowheader", name="workers", exact=True)).to_be_hidden()


def test_namespaces_fold_all_at_once(visit, ada, runs):
    page = visit(address(*runs, tab="table"), ada)
    page.get_by_role("button", name="Expand all").click()
    expect(page.get_by_role("rowheader", name="data_wait_seconds")).to_be_visible()

    page.get_by_role("button", name="Collapse all").click()

    expect(page.get_by_role("rowheader", name="workers", exact=True)).to_be_hidden()


def test_a_window_on_an_axis_keeps_the_runs_within(visit, ada, runs):
    page = visit(
        address(*runs, tab="parallel", dimension="train/accuracy_on_test"), ada
    )
    expect(page.locator(".parallel__run")).to_have_count(3)

    axis = page.get_by_role("group", name="train/accuracy_on_test, all")
    axis.focus()
    for _ in range(20):
        page.keyboard.press("ArrowDown")

    expect(page.locator(".parallel__run--pale")).to_have_count(1)
    assert "brush=" in address_now(page)
    page.get_by_role("link", name="Compare only these 2").click()
    expect(
        page.get_by_role("list", name="Compared runs").get_by_role("listitem")
    ).to_have_count(2)


def test_axes_are_dragged_and_windows_drawn_by_a_pointer(visit, ada, runs):
    page = visit(address(*runs, tab="parallel"), ada)
    catcher = page.locator(".parallel__catcher").first.bounding_box()
    x = catcher["x"] + catcher["width"] / 2
    page.mouse.move(x, catcher["y"] + 2)
    page.mouse.down()
    page.mouse.move(x, catcher["y"] + catcher["height"] / 3, steps=4)
    page.mouse.up()
    expect(page.locator(".parallel__window")).to_have_count(1)

    axes = page.locator(".parallel__axis")
    first = axes.first.get_attribute("data-path")
    axes.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(axes.nth(2)).to_have_attribute("data-path", first)
    # The other choices keep both.
    page.get_by_label("Color by").fill(first)
    page.get_by_label("Color by").press("Enter")
    expect(page).to_have_url(re.compile("colour="))
    expect(axes.nth(2)).to_have_attribute("data-path", first)
    expect(page.locator(".parallel__window")).to_have_count(1)

    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".parallel__window")).to_have_count(0)
    assert "brush=" not in address_now(page)


def test_a_click_on_a_point_opens_its_run(visit, ada, runs):
    page = visit(address(*runs, tab="scatter"), ada)
    wait_for_charts(page, 1)
    points = page.locator(".chart .point")
    expect(points).to_have_count(3)

    box = points.first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    expect(page).to_have_url(re.compile("/runs/"))


def make_sweep(project, count: int):
    runs = [
        make_run(project, f"sweep-{number:02}", "finished") for number in range(count)
    ]
    for number, run in enumerate(runs):
        write_series(run, "train/loss", [3.0 + number, 2.0 + number, 1.0])
        optimizer = {"params/optimizer": ["adam", "sgd"][number % 2]}
        write_values(run, {"params/seed": number, **(optimizer if number else {})})
    return runs


def test_of_many_runs_the_one_that_is_meant_stands_out(visit, ada, project):
    runs = make_sweep(project, 31)
    page = visit(address(*runs), ada)
    wait_for_charts(page, 1)
    compared = page.get_by_role("list", name="Compared runs")
    lit, plot = page.locator(".chart__lit"), page.locator(".chart__plot")
    expect(plot.locator("path.js-line")).to_have_count(31)

    assert violations(page) == []
    # By keyboard: Tab stops at one run, arrow keys move on from there.
    compared.get_by_role("link", name="sweep-00").focus()
    for _ in range(12):
        page.keyboard.press("ArrowDown")
    expect(compared.get_by_role("link", name="sweep-12")).to_be_focused()
    expect(lit).to_have_count(1)
    expect(plot).to_have_class(re.compile("chart__plot--lit"))
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(compared.locator(":focus")).to_have_count(0)
    expect(lit).to_have_count(0)

    # By the pointer, from the list to the chart and back.
    compared.get_by_role("link", name="sweep-03").hover()
    expect(lit).to_have_count(1)
    plot.hover()
    expect(compared.locator(".compare-run--lit")).to_have_count(1)
    expect(lit).to_have_count(1)

    # By a part of its name.
    page.get_by_role("searchbox", name="Find in").fill("-2")
    expect(compared.get_by_role("listitem")).to_have_count(10)
    compared.get_by_role("button", name="Hide sweep-29").click()
    wait_for_charts(page, 1)
    expect(plot.locator("path.js-line")).to_have_count(30)
    assert "hidden=29" in address_now(page)
    page.get_by_role("link", name="Hide all").click()
    page.get_by_role("link", name="Show all runs").click()
    wait_for_charts(page, 1)
    expect(plot.locator("path.js-line")).to_have_count(31)


def test_points_and_axes_show_the_run_that_is_meant(visit, ada, project):
    runs = make_sweep(project, 14)
    seeds = {"x": "params/seed", "y": "params/seed"}
    page = visit(address(*runs, tab="scatter", **seeds), ada)
    wait_for_charts(page, 1)
    page.get_by_role("link", name="sweep-05").first.hover()
    expect(page.locator(".point.chart__lit")).to_have_count(1)

    page.keyboard.press("5")
    expect(page.locator(".parallel__run")).to_have_count(14)
    page.get_by_role("list", name="Compared runs").get_by_role(
        "link", name="sweep-05"
    ).hover()
    expect(page.locator(".parallel__run--lit")).to_have_count(1)


def test_the_list_says_that_a_run_has_fallen_silent(visit, ada, project):
    live, ended = make_run(project, "live"), make_run(project, "ended", "finished")
    page = visit(address(live, ended, tab="table"), ada)
    compared = page.get_by_role("list", name="Compared runs")
    run = compared.get_by_role("listitem").filter(has_text="live")
    expect(run.locator(".chip").first).to_have_text("running")

    heard = timezone.now() - timedelta(minutes=5)
    Run.objects.filter(id=live.id).update(last_seen_at=heard)

    expect(run.get_by_title("running, but not responding for 5 min")).to_be_visible(
        timeout=20_000
    )
    expect(compared.get_by_role("listitem")).to_have_count(2)
    assert violations(page) == []


def test_lines_are_divided_by_colour_dash_and_chart(visit, ada, project):
    page = visit(address(*make_sweep(project, 6)), ada)
    wait_for_charts(page, 1)

    open_options(page)
    page.get_by_label("Dash by").fill("params/optimizer")
    page.get_by_label("Dash by").press("Enter")
    expect(
        page.get_by_role("list", name="Dash patterns").get_by_role("listitem")
    ).to_have_text(
        [re.compile("adam.*2"), re.compile("sgd.*3"), re.compile("not set.*1")]
    )
    open_options(page)
    page.get_by_label("Split by").fill("params/optimizer")
    page.get_by_label("Split by").press("Enter")
    wait_for_charts(page, 3)

    of_sgd = page.get_by_role("group", name="Chart of train/loss, params/optimizer sgd")
    expect(of_sgd.locator("path.js-line")).to_have_count(3)
    assert "dash=params%2Foptimizer&chart=params%2Foptimizer" in address_now(page)
    assert violations(page) == []


def test_hardware_is_drawn_for_every_run(visit, ada, runs):
    page = visit(address(*runs, tab="hardware"), ada)
    wait_for_charts(page, 1)

    page.get_by_role("link", name="By step").click()
    wait_for_charts(page, 1)
    expect(page.locator(".chart .xtitle")).to_have_text("step")


def test_long_stretches_that_are_the_same_open_on_demand(visit, ada, project):
    runs = [make_run(project, name, "finished") for name in "ab"]
    for run, middle in zip(runs, ("x = 1", "x = 2"), strict=True):
        lines = [f"line {number}" for number in range(40)]
        script = "\n".join([*lines, middle])
        write_values(run, {"monitoring/train/source/text": script})

    page = visit(address(*runs, tab="source"), ada)
    expect(page.get_by_text("line 5", exact=True)).to_be_hidden()
    page.get_by_text("unchanged lines").click()

    expect(page.get_by_text("line 5", exact=True)).to_be_visible()
