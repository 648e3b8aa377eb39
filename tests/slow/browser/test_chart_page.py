"""Reading, arranging and annotating the charts of a run."""

import csv
import io
import json
import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.builders import (
    make_project,
    make_run,
    points_message,
    records_message,
    write,
)
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now, open_options, sign_in
from tests.slow.browser.test_run_page import (
    DRAWN,
    HOSTILE,
    POLLS_MS,
    chart_query,
    is_figure,
    query_of,
    wait_until,
)
from tests.web.sample_run import make_sample_run, settle

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PINNED = "[data-section=pinned] .chart"
JOINED = "[data-section=joined] .chart"
BOX = ".chart__box:visible"
LOSS = ".chart[data-path='train/loss']"


@pytest.fixture
def run(ada):
    """Four series over the same steps, the first twice as high as the second."""
    run = make_run(make_project(ada), state="finished")
    steps = np.arange(500.0)
    lines = {
        "train/loss": 2 - steps / 500,
        "val/loss": 1 - steps / 1_000,
        "train/epoch": steps / 100,
        "infer/latency": np.where(steps == 250, 900, 0.03 + steps / 1e5),
    }
    write(run, [points_message(path, values) for path, values in lines.items()])
    settle(run)
    return run


@pytest.fixture
def charts(visit, ada, run):
    def open_page(query=""):
        page = visit(f"/runs/{run.id}/charts{query}", ada)
        expect(page.locator(DRAWN).first).to_be_visible(timeout=POLLS_MS)
        return page

    return open_page


def point_at(page, chart, across, down=0.5):
    """Move the pointer to a place of the plot, as shares of its width and height."""
    chart.scroll_into_view_if_needed()
    area = chart.locator(".nsewdrag").first.bounding_box()
    page.mouse.move(
        area["x"] + area["width"] * across, area["y"] + area["height"] * down
    )


def choose(page, chart, item):
    chart.hover()
    chart.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name=item).click()


def join(page, *paths):
    if page.locator(".compare-options").count():
        open_options(page)
    page.get_by_role("button", name="Combine series").click()
    dialog = page.get_by_role("dialog")
    for path in paths:
        dialog.get_by_label(path, exact=True).check()
    dialog.get_by_role("button", name="Show").click()
    chart = page.locator(JOINED).last
    expect(chart).to_have_attribute("data-drawn", "true")
    return chart


def test_the_first_figures_come_once_asked_for_by_the_pages_head(charts, page, run):
    asked, loaded = [], []
    page.on("request", lambda request: is_figure(request) and asked.append(request.url))
    page.on(
        "request", lambda request: "/plotly-" in request.url and loaded.append(request)
    )
    charts("?log=1")

    expect(page.locator(DRAWN)).to_have_count(4)
    link = page.locator("link[data-part=first-figures]").get_attribute("href")
    assert [url.partition("/runs/")[2] for url in asked] == [
        link.removeprefix("/runs/")
    ]
    assert len(loaded) == 1


def test_charts_drawn_before_their_menu_has_come_get_their_buttons(
    page, watch, live_server, ada, run
):
    held = []

    def hold(route):
        held.append(route)

    page.route("**/chart_menu.js", hold)
    sign_in(page.context, live_server.url, ada)
    page.goto(f"{live_server.url}/runs/{run.id}/charts")
    expect(page.locator(DRAWN)).to_have_count(4, timeout=POLLS_MS)
    assert page.get_by_role("button", name="More").count() == 0

    held[0].continue_()

    expect(page.get_by_role("button", name="More")).to_have_count(4)


def test_figures_that_did_not_come_are_asked_for_again(visit, ada, page, run, watch):
    refused = []

    def refuse_once(route):
        refused.append(route.request.url)
        route.fulfill(status=503) if len(refused) == 1 else route.continue_()

    page.route(lambda url: "/figures/charts" in url, refuse_once)
    visit(f"/runs/{run.id}/charts", ada)

    expect(page.locator(DRAWN)).to_have_count(4, timeout=POLLS_MS)
    assert len(refused) == 2
    watch.allow("503")


def test_charts_are_drawn_though_plotly_failed_once(visit, ada, page, run, watch):
    asked = []

    def refuse_once(route):
        asked.append(route.request.url)
        route.abort() if len(asked) == 1 else route.continue_()

    page.route(lambda url: "/plotly-cartesian" in url, refuse_once)
    visit(f"/runs/{run.id}/charts", ada)

    expect(page.locator(DRAWN)).to_have_count(4, timeout=POLLS_MS)
    assert len(asked) == 2
    watch.allow("ERR_FAILED")


def test_what_changed_since_is_not_drawn_as_the_page_began(visit, ada, page, run):
    page.set_viewport_size({"width": PHONE["width"], "height": 300})
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN).first).to_be_visible(timeout=POLLS_MS)
    last = page.locator(".chart").last
    assert last.get_attribute("data-drawn") is None

    # As a text that was written at one of its lines does.
    last.dispatch_event("chart-refresh")
    with page.expect_response(is_figure) as asked:
        last.scroll_into_view_if_needed()

    expect(last).to_have_attribute("data-drawn", "true")
    assert chart_query(asked.value)["path"] == [last.get_attribute("data-path")]


def test_hovering_compares_all_lines_the_nearest_first(charts):
    page = charts()
    chart = join(page, "train/loss", "val/loss")

    point_at(page, chart, 0.5, 0.03)
    rows = page.locator(f"{BOX} .chart__row")
    expect(rows.first).to_contain_text("train/loss")
    point_at(page, chart, 0.5, 0.97)

    expect(rows.first).to_contain_text("val/loss")
    expect(rows).to_have_count(2)
    expect(page.locator(f"{BOX} .chart__place")).to_contain_text("step 2")


def test_all_charts_are_read_at_the_same_place(charts):
    page = charts()
    other = page.locator(".chart[data-path='val/loss']")
    expect(other).to_have_attribute("data-drawn", "true")

    point_at(page, page.locator(LOSS), 0.5)

    expect(other.locator(".chart__cursor")).to_be_visible()
    expect(other.locator(".chart__reading")).to_contain_text("0.7")
    page.mouse.move(2, 2)
    expect(other.locator(".chart__cursor")).to_be_hidden()


def test_arrow_keys_read_a_chart_point_by_point(charts):
    page = charts()
    page.locator(f"{LOSS} .chart__plot").focus()

    page.keyboard.press("ArrowLeft")
    expect(page.locator(f"{BOX} .chart__place")).to_have_text("step 499")
    page.keyboard.press("Shift+ArrowLeft")

    expect(page.locator(f"{BOX} .chart__place")).to_have_text("step 489")


def test_a_pinned_chart_stays_at_the_top(charts):
    page = charts()
    chart = page.locator(".chart[data-path='val/loss']")
    chart.hover()
    with page.expect_response("**/charts/arrangement") as kept:
        chart.get_by_role("button", name="Pin to top").click()
    assert kept.value.status == 204
    expect(page.locator(PINNED)).to_have_attribute("data-path", "val/loss")

    # Saved for this user, without the address.
    page = charts()
    expect(page.locator(PINNED)).to_have_attribute("data-path", "val/loss")
    page.locator(PINNED).hover()
    with page.expect_response("**/charts/arrangement"):
        page.get_by_role("button", name="Unpin from top").click()
    expect(page.locator(PINNED)).to_have_count(0)
    expect(page.locator("[data-section='val/'] .chart")).to_be_visible()


def test_series_are_joined_with_a_picker_and_taken_apart(charts):
    page = charts()
    with page.expect_response("**/charts/arrangement"):
        join(page, "train/loss", "val/loss")
    address = address_now(page)

    layout = parse_qs(urlsplit(address).query)["layout"]
    assert layout == ['{"joined":[["train/loss","val/loss"]]}']
    page.reload()
    expect(page.locator(f"{JOINED} .js-line")).to_have_count(2)

    # The charts that it covered are visible again.
    page.locator(JOINED).hover()
    page.locator(JOINED).get_by_role("button", name="Full screen").click()
    choose(page, page.locator(JOINED), "Split chart")
    expect(page.locator(JOINED)).to_have_count(0)
    expect(page.locator("[inert]")).to_have_count(0)
    assert "layout" not in address_now(page)


def test_changes_of_charts_are_undone_and_done_again_by_keys(charts):
    page = charts()
    logarithmic = page.locator("[data-option=log]")
    open_options(page)
    logarithmic.click()
    expect(logarithmic).to_have_attribute("aria-pressed", "true")
    wait_until(page, lambda: changes(page) == 2)
    page.locator(LOSS).hover()
    page.locator(LOSS).locator("[data-do=pin]").click()
    expect(page.locator(PINNED)).to_have_count(1)
    wait_until(page, lambda: changes(page) == 3)

    page.keyboard.press("Control+z")
    expect(page.locator(PINNED)).to_have_count(0)
    expect(logarithmic).to_have_attribute("aria-pressed", "true")
    page.wait_for_load_state("networkidle")
    # Within a field, the keys are those of the field.
    page.locator("[type=search]").first.fill("loss")
    page.keyboard.press("Control+z")
    expect(logarithmic).to_have_attribute("aria-pressed", "true")
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    expect(logarithmic).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Control+z")
    expect(page.locator(".toast")).to_contain_text("Nothing to undo")

    page.keyboard.press("Control+Shift+z")
    expect(logarithmic).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Control+Shift+z")
    expect(page.locator(PINNED)).to_have_count(1)
    page.wait_for_load_state("networkidle")
    page.reload(wait_until="networkidle")
    expect(page.locator(PINNED)).to_have_count(1)


def changes(page) -> int:
    stored = "() => sessionStorage[`chart-changes:${location.pathname}`] ?? '{}'"
    return len(json.loads(page.evaluate(stored)).get("states", []))


def test_dragging_a_title_onto_another_chart_joins_them(charts):
    page = charts()
    target = page.locator(LOSS)
    page.locator(".chart[data-path='val/loss'] .chart__title").drag_to(target)

    joined = page.locator(JOINED)
    expect(joined).to_have_attribute("data-chart", '["train/loss","val/loss"]')
    expect(joined).to_have_attribute("data-drawn", "true")


def test_a_folded_section_stays_folded(charts):
    page = charts()
    with page.expect_response("**/charts/arrangement"):
        page.locator("[data-section='infer/'] > summary").click()

    page = charts()

    expect(page.locator("[data-section='infer/']")).not_to_have_attribute("open", "")
    expect(page.locator("[data-section='train/']")).to_have_attribute("open", "")


def test_a_chart_is_as_large_as_its_reader_wants_it(charts):
    page = charts()
    chart = page.locator(LOSS)
    before = chart.bounding_box()
    handle = chart.get_by_role("button", name="Resize")
    handle.focus()
    page.keyboard.press("ArrowRight")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    with page.expect_response("**/charts/arrangement"):
        page.keyboard.press("ArrowDown")

    page = charts()
    after = page.locator(LOSS).bounding_box()
    assert after["height"] == pytest.approx(before["height"] + 100, abs=22)
    plot = "document.querySelector('.chart__plot')._fullLayout.height"
    wait_until(page, lambda: page.evaluate(plot) >= 300)
    choose(page, page.locator(LOSS), "Reset size")
    wait_until(
        page,
        lambda: (
            page.locator(LOSS).bounding_box()["height"]
            == pytest.approx(before["height"], abs=2)
        ),
    )


def test_one_chart_fills_the_window_and_the_address_says_which(charts):
    page = charts()
    chart = page.locator(LOSS)
    chart.hover()
    chart.get_by_role("button", name="Full screen").click()
    assert chart.bounding_box()["width"] == 1_440
    wait_until(
        page, lambda: chart.locator(".main-svg").first.bounding_box()["height"] > 700
    )

    page.reload()
    expect(page.locator(".chart--full")).to_have_attribute("data-path", "train/loss")
    expect(page.locator(".chart--full")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".chart--full")).to_have_count(0)
    assert "full=" not in address_now(page)

    chart.hover()
    chart.get_by_role("button", name="Full screen").click()
    chart.get_by_role("button", name="Pin to top").click()
    expect(page.locator(PINNED)).to_have_attribute("data-path", "train/loss")
    expect(page.locator("[inert]")).to_have_count(0)


def test_an_expression_finds_charts_and_a_mistaken_one_is_told(charts):
    page = charts()
    page.locator("input[name=regex]").check(force=True)
    page.get_by_role("searchbox").first.fill("^(train|val)/loss$")
    expect(page.locator("[data-part=count]")).to_have_text("2 series")
    expect(page.locator(".chart:visible")).to_have_count(2)

    page.get_by_role("searchbox").first.fill("(")
    expect(page.locator("#charts-mistake")).to_contain_text("missing )")
    page.get_by_role("searchbox").first.fill("(a+)+$")

    expect(page.get_by_role("heading", name="No matching series")).to_be_visible()
    expect(page).to_have_url(re.compile("regex=1"))


def test_epochs_and_any_other_series_give_the_axis(charts):
    page = charts()
    with page.expect_request(is_figure) as by_epoch:
        page.get_by_role("button", name="Epoch").click()
    assert query_of(by_epoch.value)["over"] == ["train/epoch"]

    open_options(page)
    page.get_by_role("button", name="Use a series as X axis").click()
    page.get_by_role("dialog").get_by_label("val/loss", exact=True).check()
    with page.expect_request(is_figure) as by_series:
        page.get_by_role("dialog").get_by_role("button", name="Show").click()

    assert query_of(by_series.value)["over"] == ["val/loss"]
    expect(page.locator(f"{LOSS} .xtitle")).to_have_text("val/loss")
    point_at(page, page.locator(LOSS), 0.5)
    expect(page.locator(f"{BOX} .chart__place")).to_contain_text("val/loss 0.7")


def test_a_zoom_on_a_logarithmic_axis_asks_for_the_range_that_was_meant(charts):
    page = charts("?logx=1")
    chart = page.locator(LOSS)
    area = chart.locator(".nsewdrag").first.bounding_box()
    middle = area["y"] + area["height"] / 2
    with page.expect_request(is_figure) as zoomed:
        page.mouse.move(area["x"] + area["width"] * 0.5, middle)
        page.mouse.down()
        page.mouse.move(area["x"] + area["width"] * 0.9, middle, steps=6)
        page.mouse.up()

    asked = query_of(zoomed.value)
    low, high = float(asked["low"][0]), float(asked["high"][0])
    assert 5 < low < 60
    assert 150 < high < 500


def test_outliers_lie_beyond_the_axis_and_are_counted(charts):
    page = charts()
    open_options(page)
    page.get_by_role("button", name="Ignore outliers").click()

    notes = page.locator(".chart[data-path='infer/latency'] .chart__notes")
    expect(notes).to_contain_text(
        "Outliers ignored: 1 of 500 points are outside the axis"
    )
    assert "clip=1" in address_now(page)


def test_one_chart_may_be_logarithmic_by_itself(charts):
    page = charts()
    chart = page.locator(LOSS)
    chart.hover()
    chart.get_by_role("button", name="More").click()
    page.get_by_role("menuitemcheckbox", name="Logarithmic").click()

    kinds = """() => [...document.querySelectorAll(".chart[data-drawn] .chart__plot")]
      .map((plot) => plot._fullLayout.yaxis.type)"""
    wait_until(page, lambda: page.evaluate(kinds).count("log") == 1)


def test_a_text_is_put_at_a_step_changed_and_deleted(charts):
    page = charts()
    chart = page.locator(LOSS)
    point_at(page, chart, 0.5)
    expect(page.locator(BOX)).to_be_visible()
    page.mouse.down()
    page.mouse.up()
    choose(page, chart, "Annotate…")
    dialog = page.get_by_role("dialog", name="Annotate")
    expect(dialog.get_by_label("Step")).to_have_value(re.compile("2[45]."))
    dialog.get_by_label("Step").fill("300")
    dialog.get_by_label("Text").fill(HOSTILE[0])
    dialog.get_by_role("button", name="Save").click()

    sign = chart.get_by_role("button", name="Annotations")
    expect(sign).to_contain_text("1")
    expect(chart.locator(".annotation-text")).to_contain_text("<a href=")
    sign.click()
    written = page.get_by_role("dialog", name="Annotations")
    expect(written).to_contain_text(HOSTILE[0])
    expect(written).to_contain_text("step 300 · ada")

    written.get_by_role("button", name="Edit").click()
    dialog.get_by_label("Text").fill("learning rate halved")
    dialog.get_by_role("button", name="Save").click()
    expect(chart.locator(".annotation-text")).to_have_text("learning rate halved")

    sign.click()
    expect(written).to_contain_text("edited")
    written.get_by_role("button", name="Delete").click()
    expect(sign).to_be_hidden()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(sign).to_contain_text("1")
    expect(chart.locator(".annotation-text")).to_have_text("learning rate halved")


def test_what_the_script_noted_stands_on_every_chart_and_is_nobodys_to_change(
    charts, run
):
    note = f"rate halved {HOSTILE[0]}"
    write(run, [records_message("notes/train", [note], steps=[250])])
    page = charts()

    for path in ("train/loss", "val/loss"):
        chart = page.locator(f".chart[data-path='{path}']")
        expect(chart).to_have_attribute("data-drawn", "true", timeout=POLLS_MS)
        chart.hover()
        chart.get_by_role("button", name="Annotations").click()
        written = page.get_by_role("dialog", name="Annotations")
        expect(written).to_contain_text(note)
        expect(written).to_contain_text("step 250 · the script")
        expect(written.get_by_role("button")).to_have_count(0)
        page.keyboard.press("Escape")
        expect(written).to_be_hidden()


def test_a_chart_is_saved_as_a_picture(charts):
    page = charts()
    for item, begins in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with page.expect_download() as saved:
            choose(page, page.locator(LOSS), f"Save as {item}")

        assert saved.value.suggested_filename == f"train-loss.{item.lower()}"
        assert saved.value.path().read_bytes().startswith(begins)


def test_all_points_of_a_chart_are_saved_as_a_table(charts, page):
    page = charts()
    with page.expect_download() as saved:
        choose(page, page.locator(LOSS), "Save all points as CSV")

    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text())))
    assert len(rows) == 500
    assert {row["path"] for row in rows} == {"train/loss"}


def test_hostile_names_are_texts_wherever_a_chart_shows_them(visit, ada, page):
    dialogs = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    run = make_run(make_project(ada), state="finished")
    names = [f"train/{name}" for name in HOSTILE]
    write(run, [points_message(name, [1.0, 2.0, 3.0]) for name in names])
    settle(run)
    visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN).first).to_be_visible()

    chart = join(page, *names[:4])
    point_at(page, chart, 0.5)
    expect(page.locator(BOX)).to_contain_text(HOSTILE[0])
    choose(page, chart, "Combine with other series…")
    expect(page.get_by_role("dialog")).to_contain_text(HOSTILE[1])
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(JOINED)).to_have_attribute("data-drawn", "true")

    assert page.locator("main script, main img, svg a, .chart__box b").count() == 0
    assert dialogs == []
    assert page.evaluate("Object.keys(Object.prototype)") == []


def test_a_thousand_series_open_and_are_searched(visit, ada, page):
    run = make_run(make_project(ada), state="finished")
    paths = [f"train/series_{n:04}/norm" for n in range(1_100)]
    ticks = points_message("", [0.0])
    values = np.arange(float(len(paths))).tobytes()
    write(run, [{**ticks, "paths": paths, "values": values}])
    settle(run)

    visit(f"/runs/{run.id}/charts", ada)

    expect(page.locator("[data-part=section-count]").last).to_have_text("1100")
    # The only section is open, although it has many layers.
    expect(page.locator(DRAWN).first).to_be_visible(timeout=POLLS_MS)
    assert page.locator(".chart").count() < 100
    page.get_by_role("searchbox").first.fill("series_1099")
    expect(page.locator(f"{DRAWN}:visible")).to_have_count(1)
    page.locator("input[name=regex]").check(force=True)
    page.get_by_role("searchbox").first.fill("series_00(1|2)0/")
    expect(page.locator("[data-part=count]")).to_have_text("2 series")
    expect(page.locator(f"{DRAWN}:visible")).to_have_count(2)


def test_a_chart_of_fifty_lines_names_the_nearest_and_counts_the_rest(visit, ada, page):
    run = make_run(make_project(ada), state="finished")
    paths = [f"train/layer_{n:02}" for n in range(50)]
    write(run, [points_message(p, np.full(100, n)) for n, p in enumerate(paths)])
    settle(run)
    layout = '{"joined":[[' + ",".join(f'"{path}"' for path in paths) + "]]}"
    visit(f"/runs/{run.id}/charts?layout={layout}", ada)
    chart = page.locator(JOINED)
    expect(chart).to_have_attribute("data-drawn", "true", timeout=POLLS_MS)

    point_at(page, chart, 0.5, 0.96)

    rows = page.locator(f"{BOX} .chart__row")
    expect(rows.first).to_contain_text("layer_00")
    expect(page.locator(".chart__more")).to_have_text("and 38 more")


def test_nobody_is_shut_out_of_what_is_opened(visit, ada, page):
    run = make_sample_run(make_project(ada))
    visit(f"/runs/{run.id}/charts", ada)
    chart = page.locator(DRAWN).first
    expect(chart).to_be_visible()
    chart.hover()
    chart.get_by_role("button", name="More").click()
    assert violations(page) == []

    page.get_by_role("menuitem", name="Combine with").click()
    assert violations(page) == []


def test_a_phone_reads_charts_without_sideways_scrolling(visit, ada, page, run):
    page.set_viewport_size(PHONE)
    visit(f"/runs/{run.id}/charts", ada)
    chart = page.locator(LOSS)
    expect(chart).to_have_attribute("data-drawn", "true")

    point_at(page, chart, 0.9)

    expect(page.locator(BOX)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
