"""A dashboard as people make it, arrange it and watch it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run, write_series, write_values
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE
from tracker.actions.dashboards import create_dashboard, remove_widget
from tracker.boards.board import Board, Place, RunSet, Widget, board_from
from tracker.models import Dashboard, SavedView
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LISTED = "/w/ada-workspace/vision/dashboards/"
CHART, VALUE, TEXT = "c0c0c0c0", "aaaaaaaa", "dddddddd"
# The first chart of a page waits for Plotly.
SLOW_MS = 20_000


@pytest.fixture
def project(ada):
    made = make_project(ada)
    for place, name in enumerate(("baseline", "decoded")):
        run = make_run(made, name, "finished")
        write_series(run, "train/loss", [1.0, 0.7 - place / 4, 0.5 - place / 4])
        write_series(run, "train/accuracy", [0.1, 0.6, 0.8 + place / 10])
        write_values(run, {"params/lr": 0.1 * (place + 1)})
        compact_run(run.id)
    return made


def widget(widget_id, kind, place, title="", **settings):
    return Widget(id=widget_id, kind=kind, place=place, title=title, settings=settings)


@pytest.fixture
def dashboard(project, ada):
    widgets = (
        widget(CHART, "chart", Place(0, 0, 6, 4), "Loss", metrics=["train/loss"]),
        widget(VALUE, "value", Place(6, 0, 3, 2), metric="train/loss", over="lowest"),
        widget(TEXT, "text", Place(9, 0, 3, 2), "Notes", text="look *here*"),
    )
    board = Board(widgets=widgets)
    return create_dashboard(project, "nightly", board, user_id=ada.user_id)


def place_of(dashboard, widget_id: str) -> Place:
    kept = board_from(Dashboard.objects.get(id=dashboard.id).content)
    return kept.widget(widget_id).place


def region(page, name: str):
    return page.get_by_role("group", name=name, exact=True)


def test_from_nothing_to_charts_of_what_is_logged_most(visit, ada, project):
    page = visit(LISTED, ada)

    page.get_by_role("button", name="Start with an example").click()

    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    drawn = page.locator('.chart[data-drawn="true"]')
    expect(drawn.first).to_be_visible(timeout=SLOW_MS)
    expect(region(page, "train/loss").first).to_be_visible()
    assert violations(page) == []


def test_a_value_leads_to_the_best_of_all_runs(visit, ada, project):
    best = widget(VALUE, "value", Place(), metric="train/loss", over="lowest")
    board = Board(widgets=(best,), run_set=RunSet(first=1, order="name"))
    made = create_dashboard(project, "best", board, user_id=ada.user_id)
    page = visit(f"/dashboards/{made.id}/", ada)

    expect(page.locator(".widget-value")).to_contain_text("lowest of 2 runs:")
    expect(page.locator(".widget-value__number")).to_have_text("0.25")
    assert violations(page) == []
    page.get_by_role("link", name="decoded").click()

    expect(page.get_by_role("heading", name="decoded")).to_be_visible()


def test_a_widget_is_added_with_paths_completed(visit, ada, dashboard):
    page = visit(f"/dashboards/{dashboard.id}/", ada)

    page.get_by_role("button", name="Add widget").click()
    page.get_by_role("button", name="Chart Metrics over steps or time").click()
    field = page.get_by_role("combobox", name="Metrics")
    field.fill("train/a")
    expect(page.locator("datalist option[value='train/accuracy']")).to_have_count(1)
    field.fill("train/accuracy")
    # Not by Enter, which the browser takes for its list of suggestions now and then.
    page.get_by_role("button", name="Add another").click()
    # Wait for the new field, so that the text does not go into the last one before it.
    expect(page.get_by_role("combobox", name="Metrics")).to_have_count(2)
    page.get_by_role("combobox", name="Metrics").last.fill("train/loss")
    # An empty field is left at the end.
    page.get_by_role("button", name="Add another").click()
    page.get_by_label("Title").fill("Both")
    # The palette would capture the input.
    page.keyboard.press("Control+k")
    page.get_by_role("button", name="Add", exact=True).click()

    added = region(page, "Both")
    expect(added.locator('.chart[data-drawn="true"]')).to_be_visible(timeout=SLOW_MS)
    expect(added.get_by_role("list", name="Metrics")).to_contain_text("train/loss")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.reload()
    expect(region(page, "Both")).to_be_visible()


def test_a_long_legend_counts_its_hidden_runs_and_opens(visit, ada, project, dashboard):
    for number in range(8):
        run = make_run(project, f"a-run-of-the-sweep-seed{number}", "finished")
        write_series(run, "train/loss", [1.0, 0.5])
    page = visit(f"/dashboards/{dashboard.id}/", ada)

    legend = region(page, "Loss").get_by_role("list", name="Runs")
    more = legend.get_by_role("button", name=re.compile(r"^\+\d+ more$"))
    expect(more).to_be_visible(timeout=SLOW_MS)
    hidden = int(re.sub(r"\D", "", more.inner_text()))
    box = legend.bounding_box()
    tops = [link.bounding_box()["y"] for link in legend.get_by_role("link").all()]
    assert sum(top >= box["y"] + box["height"] for top in tops) == hidden > 0
    assert more.bounding_box()["y"] < box["y"] + box["height"]

    more.click()
    less = legend.get_by_role("button", name="Show less")
    expect(less).to_be_focused()
    expect(legend.get_by_role("link").last).to_be_in_viewport()
    less.click()
    expect(more).to_be_focused()


def test_a_form_takes_no_key_before_it_answers_all_of_them(visit, ada, dashboard):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    held = []

    def hold(route):
        held.append(route)

    page.route("**/components/repeated_field.js", hold)
    page.get_by_role("button", name="Add widget").click()
    page.get_by_role("button", name="Chart Metrics over steps or time").click()
    expect(page.locator("#widget-form .repeat").first).to_be_visible()

    # Without the script of the list of fields, Enter would submit the form.
    page.keyboard.type("own/metric")
    page.keyboard.press("Enter")
    held[0].continue_()

    fields = page.get_by_role("combobox", name="Metrics")
    expect(fields).to_be_focused()
    expect(fields).to_have_value("")
    page.keyboard.type("own/metric")
    page.keyboard.press("Enter")
    expect(fields).to_have_count(2)
    # Enter in an empty field does not submit the form.
    page.keyboard.press("Enter")
    page.keyboard.type("own/other")
    expect(fields.last).to_have_value("own/other")


def test_a_mistake_is_said_in_the_dialog(visit, ada, dashboard, watch):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    page.get_by_role("button", name="Edit Loss").click()

    page.get_by_role("radio", name="Runs matching a query").check()
    page.get_by_label("Query", exact=True).fill("train/loss <")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text(
        "is not understood"
    )
    watch.allow("400")
    page.get_by_label("Query", exact=True).fill("train/loss < 0.3")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    legend = region(page, "Loss").get_by_role("list", name="Runs")
    expect(legend).to_have_text(re.compile("^decoded$"))


def test_widgets_are_moved_and_resized_by_keyboard(visit, ada, dashboard):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    expect(region(page, "Loss").locator('[data-drawn="true"]')).to_be_visible(
        timeout=SLOW_MS
    )
    grip = page.get_by_role("button", name=re.compile("^Move Notes"))

    grip.focus()
    with page.expect_response(re.compile("/place$")):
        grip.press("ArrowDown")
        grip.press("ArrowDown")
    with page.expect_response(re.compile("/place$")):
        grip.press("Shift+ArrowDown")

    assert place_of(dashboard, TEXT) == Place(9, 0, 3, 3)
    with page.expect_response(re.compile("/place$")):
        for _ in range(9):
            grip.press("ArrowLeft")
    assert place_of(dashboard, TEXT) == Place(0, 0, 3, 3)
    assert place_of(dashboard, CHART) == Place(0, 3, 6, 4)
    expect(grip).to_be_focused()


def test_moves_in_quick_succession_are_all_kept(visit, ada, dashboard):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    waiting = []

    def hold(route):
        waiting.append(route)

    page.route("**/place", hold, times=1)

    page.get_by_role("button", name=re.compile("^Move Notes")).press("Shift+ArrowDown")
    with page.expect_request("**/place"):
        pass
    page.get_by_role("button", name=re.compile("^Move Notes")).press("Shift+ArrowDown")
    value = page.get_by_role("button", name="Move train/loss with the arrow keys")
    value.press("Shift+ArrowDown")
    with page.expect_response(lambda answer: VALUE in answer.url):
        page.wait_for_timeout(600)
        waiting[0].continue_()

    assert place_of(dashboard, TEXT) == Place(9, 0, 3, 4)
    assert place_of(dashboard, VALUE).height == 3
    expect(page.locator("#board-refusal")).to_be_empty()


def test_what_is_refused_is_said_and_the_page_stays(visit, ada, dashboard, watch):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    heading = page.get_by_role("heading", name="nightly")
    page.evaluate(
        """() => document.body.setAttribute(
          "hx-headers:inherited", JSON.stringify({ "X-CSRFToken": "of an older session" }))"""
    )

    page.get_by_role("button", name="Remove Loss").click()

    expect(page.get_by_role("alert").filter(has_text="Reload the page")).to_be_visible()
    expect(heading).to_have_count(1)
    expect(region(page, "Loss")).to_be_visible()
    watch.allow("403")

    remove_widget(dashboard, CHART, version=1, user_id=ada.user_id)
    page.evaluate(
        """() => {
          const body = document.querySelector("#widget-c0c0c0c0 .widget__body")
          const target = `#${body.id}`
          return htmx.ajax("GET", `${location.pathname}widgets/c0c0c0c0/body`, { target, swap: "outerMorph" })
        }"""
    )
    expect(region(page, "Loss")).to_contain_text("This widget was removed")
    watch.allow("404")


def test_a_poll_that_is_refused_says_so_quietly_and_goes_on(
    visit, ada, dashboard, watch
):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    answer = {"status": 503}
    page.route("**/poll-of-a-test", lambda route: route.fulfill(**answer))
    page.evaluate(
        """() => {
          const part = document.createElement("p")
          part.id = "polled"
          part.setAttribute("hx-get", "/poll-of-a-test")
          part.setAttribute("hx-trigger", "every 100ms")
          document.querySelector("main").append(part)
          htmx.process(part)
        }"""
    )

    message = page.locator(".stale")
    expect(message).to_contain_text("Not refreshed since")
    expect(page.locator(".toast")).to_have_count(0)
    answer |= {"status": 200, "body": "well"}
    expect(message).to_be_hidden()
    expect(page.locator("#polled")).to_have_text("well")
    watch.allow("503")


def test_a_widget_is_dragged_and_others_make_room(visit, ada, dashboard):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    expect(region(page, "Loss").locator('[data-drawn="true"]')).to_be_visible(
        timeout=SLOW_MS
    )
    page.evaluate("window.isTheSamePage = true")
    grip = page.get_by_role("button", name=re.compile("^Move Loss"))
    start = grip.bounding_box()
    cell = page.locator("#board-grid").bounding_box()["width"] / 12

    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 8 + 3 * cell, start["y"] + 8, steps=4)
    page.mouse.move(start["x"] + 8 + 6 * cell, start["y"] + 8, steps=4)
    expect(page.locator(".board__ghost")).to_be_visible()
    with page.expect_response(re.compile("/place$")):
        page.mouse.up()

    expect(page.locator(f"#widget-{CHART}")).to_have_attribute("data-x", "6")
    assert place_of(dashboard, CHART) == Place(6, 0, 6, 4)
    assert place_of(dashboard, VALUE).y == 4
    # The chart was neither loaded nor drawn again.
    expect(region(page, "Loss").locator('[data-drawn="true"]')).to_be_visible(
        timeout=SLOW_MS
    )
    assert page.evaluate("window.isTheSamePage")


def test_a_corner_resizes(visit, ada, dashboard):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    expect(region(page, "Loss").locator('[data-drawn="true"]')).to_be_visible(
        timeout=SLOW_MS
    )
    corner = region(page, "Loss").locator("[data-part=resize]")
    start = corner.bounding_box()

    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 8, start["y"] + 8 + 168, steps=4)
    with page.expect_response(re.compile("/place$")):
        page.mouse.up()

    assert place_of(dashboard, CHART) == Place(0, 0, 6, 6)


def test_what_is_removed_comes_back(visit, ada, dashboard):
    page = visit(f"/dashboards/{dashboard.id}/", ada)

    page.get_by_role("button", name="Remove Notes").click()
    expect(region(page, "Notes")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()

    expect(region(page, "Notes")).to_contain_text("look here")
    assert place_of(dashboard, TEXT) == Place(9, 0, 3, 2)


def test_who_comes_second_is_told_and_decides(visit, ada, dashboard, watch):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    page.get_by_role("button", name="Edit Loss").click()
    page.get_by_label("Title").fill("Mine")
    remove_widget(dashboard, TEXT, version=1, user_id=ada.user_id)

    page.get_by_role("button", name="Save", exact=True).click()
    message = page.get_by_role("dialog").get_by_role("alert")
    expect(message).to_contain_text("ada changed this dashboard")
    watch.allow("409")
    expect(page.get_by_label("Title")).to_have_value("Mine")
    page.get_by_role("button", name="Save anyway").click()

    expect(region(page, "Mine")).to_be_visible()
    expect(region(page, "Notes")).to_have_count(0)


def test_a_new_run_joins_by_itself(visit, ada, dashboard, project):
    growing = make_run(project, "growing")
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    legend = region(page, "Loss").get_by_role("list", name="Runs")
    expect(legend).to_contain_text("decoded")

    write_series(growing, "train/loss", [0.05, 0.01])
    another = make_run(project, "another")
    write_series(another, "train/loss", [0.9])
    compact_run(growing.id)

    expect(legend).to_contain_text("another", timeout=20_000)
    expect(legend).to_contain_text("growing", timeout=20_000)
    expect(region(page, "train/loss")).to_contain_text("0.01", timeout=20_000)


def test_it_follows_a_view_until_that_is_gone(visit, ada, dashboard, project):
    view = SavedView.objects.create(
        project=project, owner=ada.user, name="good", is_shared=True, state="q=decoded"
    )
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    page.get_by_title("Select runs").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Runs in a saved view").check()
    dialog.get_by_role("combobox", name="Saved view").select_option("good")
    expect(dialog.get_by_label("Query", exact=True)).to_be_hidden()
    assert violations(page) == []
    dialog.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text("the first 10 runs of view “good”")).to_be_visible()
    legend = region(page, "Loss").get_by_role("list", name="Runs")
    expect(legend.get_by_role("listitem")).to_have_text(["decoded"], timeout=SLOW_MS)

    view.delete()
    page.reload()
    expect(page.get_by_text("a deleted view")).to_be_visible()
    expect(region(page, "Loss")).to_contain_text("deleted or is no longer shared")


def test_is_renamed_duplicated_and_deleted(visit, ada, dashboard):
    page = visit(f"/dashboards/{dashboard.id}/", ada)

    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Name", exact=True).fill("weekly")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="weekly", exact=True)).to_be_visible()
    page.get_by_role("button", name="Duplicate").click()
    expect(page.get_by_role("heading", name="weekly (copy)")).to_be_visible()
    # Its figures would not be found any more.
    page.wait_for_load_state("networkidle")
    page.get_by_role("button", name="Move to trash").click()

    expect(page.get_by_role("heading", name="Dashboards")).to_be_visible()
    assert [each.name for each in Dashboard.objects.all()] == ["weekly"]


def test_nothing_stands_in_anybody_s_way(visit, ada, dashboard):
    page = visit(f"/dashboards/{dashboard.id}/", ada)
    expect(region(page, "Loss").locator('[data-drawn="true"]')).to_be_visible(
        timeout=SLOW_MS
    )
    assert violations(page) == []

    page.get_by_role("button", name="Edit Loss").click()
    expect(page.get_by_label("Title")).to_be_visible()
    assert violations(page) == []


def test_on_a_phone_widgets_stand_below_each_other(visit, ada, dashboard, page):
    page.set_viewport_size(PHONE)
    visit(f"/dashboards/{dashboard.id}/", ada)

    boxes = [each.bounding_box() for each in page.locator(".widget").all()]
    assert {box["x"] for box in boxes} == {boxes[0]["x"]}
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
