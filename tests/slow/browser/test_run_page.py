"""A run's pages, used to find the reason of a slow run."""

import re
from datetime import timedelta
from itertools import product
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.builders import (
    SECOND,
    Process,
    close_message,
    make_project,
    make_run,
    points_message,
    write_series,
    write_tags,
    write_values,
)
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import (
    PHONE,
    address_now,
    open_account_menu,
    wait_until,
)
from tests.web.sample_run import (
    STEP_SECONDS,
    STEPS,
    TRAIN_START,
    log_steps,
    make_sample_run,
    settle,
)
from tracker.models import Run, Spool

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DRAWN = ".chart[data-drawn=true]"
POLLS_MS = 20_000
HOSTILE = [
    '<a href="https://evil.test">loss</a>',
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "%{y}<b>bold</b>",
    "__proto__",
    "constructor",
    "שלום\u202eabc",
    "x" * 990,
]


@pytest.fixture
def project(ada):
    return make_project(ada)


def long_run(project, values):
    run = make_run(project, state="finished")
    write_series(run, "train/loss", values)
    settle(run)
    return run


def drag(page, chart, start, end):
    """Zoom by dragging over a part of the plot, as shares of its width."""
    area = chart.locator(".nsewdrag").first.bounding_box()
    middle = area["y"] + area["height"] / 2
    page.mouse.move(area["x"] + area["width"] * start, middle)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * end, middle, steps=6)
    page.mouse.up()


def query_of(request):
    return parse_qs(urlsplit(request.url).query)


def is_figure(request):
    return "/figures/charts" in request.url


def chart_query(request):
    """Return the query of the first chart in a request for many."""
    return parse_qs(query_of(request)["chart"][0])


def test_the_overview_says_why_it_was_slow_and_what_to_try(visit, ada, project):
    page = visit(f"/runs/{make_sample_run(project).id}/", ada)

    finding = page.locator("article.finding").first
    expect(finding.get_by_role("heading").first).to_have_text(
        "Not enough data-loader workers"
    )
    expect(finding.locator(".finding__change")).to_contain_text("2 workers")
    expect(finding.locator(".finding__gain")).to_contain_text("Expected")
    # The answer is on the first screen.
    assert finding.locator(".finding__recommendations").bounding_box()["y"] < 700
    expect(finding.locator(DRAWN)).to_be_visible()
    details = finding.locator(".finding__details")
    details.locator("> summary").click()
    expect(details).to_contain_text("agreement of other signals")


def test_keys_lead_through_the_tabs(visit, ada, project):
    page = visit(f"/runs/{make_sample_run(project).id}/", ada)

    for key, tab in (
        ("2", "charts"),
        ("3", "media"),
        ("4", "hardware"),
        ("1", ""),
    ):
        page.keyboard.press(key)
        page.wait_for_url(f"**/runs/*/{tab}")
        # Behaviors come after the page.
        page.wait_for_load_state("networkidle")
    page.keyboard.press("2")
    page.get_by_role("searchbox").fill("3")
    expect(page).to_have_url(re.compile(re.escape("charts?search=3")))


def test_a_zoom_asks_for_finer_points_and_a_double_click_gives_all_again(
    visit, ada, page, project
):
    run = long_run(project, [float(n % 50) for n in range(20_000)])
    visit(f"/runs/{run.id}/charts", ada)
    chart = page.locator(DRAWN).first
    expect(chart).to_be_visible()

    with page.expect_request(is_figure) as zoomed:
        drag(page, chart, 0.25, 0.5)

    asked = query_of(zoomed.value)
    low, high = float(asked["low"][0]), float(asked["high"][0])
    assert 4_000 < low < 6_000
    assert 9_000 < high < 11_000
    expect(page.get_by_role("button", name="Reset zoom")).to_be_visible()
    assert f"low={low:g}"[:8] in address_now(page)

    area = chart.locator(".nsewdrag").first
    with page.expect_request(is_figure) as reset:
        area.dblclick()
    assert "low" not in query_of(reset.value)
    assert "low=" not in address_now(page)


def test_the_address_shows_a_colleague_the_same(visit, ada, page, project):
    run = long_run(project, [float(n) for n in range(2_000)])
    visit(f"/runs/{run.id}/charts", ada)
    page.get_by_role("button", name="Relative").click()
    page.get_by_text("Options", exact=True).click()
    page.get_by_role("button", name="Log y").click()
    page.locator("input[type=range]").fill("0.9")
    expect(page).to_have_url(re.compile(re.escape("smoothing=0.9")))

    with page.expect_request(is_figure) as request:
        page.reload()

    assert query_of(request.value) == {
        "chart": ["path=train%2Floss"],
        "axis": ["relative"],
        "log": ["1"],
        "smoothing": ["0.9"],
    }
    expect(page.get_by_role("button", name="Relative")).to_have_attribute(
        "aria-pressed", "true"
    )
    # The raw line stays below the smooth one, and the band below both.
    expect(page.locator(f"{DRAWN} .scatterlayer .trace")).to_have_count(3)


def test_a_spike_among_many_points_is_seen(visit, ada, page, project):
    values = [1.0] * 20_000
    values[12_345] = 900.0
    visit(f"/runs/{long_run(project, values).id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    top = page.evaluate(
        "document.querySelector('.chart__plot')._fullLayout.yaxis.range[1]"
    )
    heights = page.locator(".js-line").evaluate_all(
        "lines => lines.map(line => line.getBBox().height)"
    )

    assert top >= 900
    assert max(heights) > 100


def test_gaps_are_gaps(visit, ada, page, project):
    nan = float("nan")
    values = [1.0] * 50 + [nan] * 20 + [float("inf")] * 5 + [2.0] * 50
    visit(f"/runs/{long_run(project, values).id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()

    # Plotly draws each segment of a line as a separate path.
    expect(page.locator(".js-line")).to_have_count(2)
    expect(page.locator(".chart__notes")).to_have_text(
        "25 NaN or infinite points are shown as gaps."
    )


def test_two_hundred_charts_load_and_draw_as_they_come_near(visit, ada, page, project):
    run = make_run(project, state="finished")
    process = Process(project, run.name)
    process.open()
    process.send(
        [points_message(f"train/series_{n:03}", [1.0, 2.0]) for n in range(200)]
    )
    settle(run)
    asked = []
    page.on("request", lambda each: asked.append(each) if is_figure(each) else None)

    visit(f"/runs/{run.id}/charts", ada)

    expect(page.locator(DRAWN).first).to_be_visible()
    assert page.locator(".chart").count() < 200
    assert page.locator(DRAWN).count() < 40
    # Charts near the window came in one request.
    assert len(asked) <= 4

    def scroll_to_the_last() -> bool:
        page.locator(".chart").last.scroll_into_view_if_needed()
        return page.locator(".chart").count() == 200

    wait_until(page, scroll_to_the_last)
    last = page.locator(".chart").last
    last.scroll_into_view_if_needed()
    expect(last).to_have_attribute("data-drawn", "true")
    expect(page.locator(".chart").first).not_to_have_attribute("data-drawn", "true")


def test_the_search_hides_what_was_not_meant(visit, ada, page, project):
    visit(f"/runs/{make_sample_run(project).id}/charts", ada)

    page.get_by_role("searchbox").fill("CPU_cores")

    expect(page.locator("[data-part=count]")).to_have_text("6 series")
    # Its sections were folded; matching charts are drawn.
    expect(page.locator(f"{DRAWN}:visible")).to_have_count(6)
    page.get_by_role("searchbox").fill("(.*")
    expect(page.get_by_role("heading", name="No matching series")).to_be_visible()


def test_charts_follow_the_theme(visit, ada, page, project):
    visit(f"/runs/{long_run(project, [1.0, 2.0]).id}/charts", ada)
    line = page.locator(f"{DRAWN} .js-line").first
    expect(line).to_be_visible()
    light = line.evaluate("line => getComputedStyle(line).stroke")

    open_account_menu(page)
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(line).not_to_have_css("stroke", light)


def test_a_live_run_is_kept_true_without_reloading(visit, ada, page, project):
    run = make_sample_run(project, is_live=True)
    visit(f"/runs/{run.id}/charts?search=train/loss", ada)
    chart = page.locator(".chart[data-path='train/loss']")
    expect(chart).to_have_attribute("data-drawn", "true")
    page.evaluate("window.notReloaded = true")
    last_step = "chart => chart.querySelector('.chart__plot')._fullData[0].x.at(-1)"
    assert chart.evaluate(last_step) == STEPS - 1

    process = Process(project, run.name, time=TRAIN_START)
    process.open()
    log_steps(process, STEPS, 50)
    wait_until(page, lambda: chart.evaluate(last_step) == STEPS + 49)
    expect(page.locator("#run-header .chip").first).to_have_text("running")

    end(project, run)
    expect(page.locator("#run-header .chip").first).to_have_text(
        "finished", timeout=POLLS_MS
    )
    expect(chart).to_have_attribute("data-live", "false", timeout=POLLS_MS)
    expect(page.locator("#run-header")).not_to_have_attribute("hx-trigger", "every 5s")
    assert page.evaluate("window.notReloaded")


def header_answers(page: Page) -> list[int]:
    """Return a list that grows by the status of each answer to the header's polls."""
    answers: list[int] = []
    page.on(
        "response",
        lambda got: got.url.endswith("/header") and answers.append(got.status),
    )
    return answers


def test_how_long_a_run_goes_on_is_counted_without_being_sent(
    visit, ada, page, project
):
    run = make_sample_run(project, is_live=True)
    now = timezone.now()
    Run.objects.filter(id=run.id).update(started_at=now, active_since=now)
    answers = header_answers(page)
    visit(f"/runs/{run.id}/charts", ada)
    lasted = page.locator("#run-going-on dd")
    at_first = lasted.text_content()
    buttons = page.locator("#run-actions button")
    there = buttons.count()

    wait_until(page, lambda: 304 in answers)
    expect(lasted).not_to_have_text(at_first, timeout=POLLS_MS)
    expect(buttons).to_have_count(there)

    end(project, run)
    expect(page.locator("#run-going-on")).to_have_count(0, timeout=POLLS_MS)
    expect(page.locator(".run__facts").get_by_text("Duration")).to_be_visible()
    expect(buttons).to_have_count(there)


def test_for_how_long_a_run_is_silent_is_counted_without_being_sent(
    visit, ada, page, project
):
    run = make_sample_run(project, is_live=True)

    def heard_of(**ago):
        seen = timezone.now() - timedelta(**ago)
        Run.objects.filter(id=run.id).update(last_seen_at=seen)

    heard_of(seconds=100)
    answers = header_answers(page)
    visit(f"/runs/{run.id}/charts", ada)
    silent = page.locator("#run-header .chip--warning span")
    wait_until(page, lambda: 304 in answers)
    at_first = silent.text_content()

    expect(silent).not_to_have_text(at_first, timeout=POLLS_MS)
    assert answers.count(200) == 1  # the first, as pages hold no version yet

    # The counter restarts from the value in the next answer.
    heard_of(hours=2)
    expect(silent).to_have_text("2 h", timeout=POLLS_MS)


def test_a_live_overview_keeps_what_the_reader_opened(visit, ada, page, project):
    run = make_sample_run(project, is_live=True)
    visit(f"/runs/{run.id}/", ada)
    page.evaluate("window.notReloaded = true")
    details = page.locator(".finding__details").first
    details.locator("> summary").click()
    evidence = page.locator("article.finding .chart").first
    expect(evidence).to_have_attribute("data-drawn", "true")

    end(project, run)

    expect(page.locator(".stage .chip").first).to_have_text(
        "finished", timeout=POLLS_MS
    )
    expect(details).to_have_attribute("open", "")
    expect(evidence).to_have_attribute("data-drawn", "true")
    assert page.evaluate("window.notReloaded")


def test_small_branches_of_attributes_are_open_and_monitoring_opens_on_demand(
    visit, ada, page, project
):
    visit(f"/runs/{make_sample_run(project).id}/attributes", ada)
    branches = page.locator(".tree__branch > summary")

    expect(page.locator(".tree__leaves th", has_text="optimizer")).to_be_visible()
    expect(branches.filter(has_text="facts/")).to_have_count(0)

    branches.filter(has_text="monitoring/").click()
    page.locator(".tree__branch .tree__branch > summary", has_text="train/").click()

    expect(branches.filter(has_text="facts/")).to_be_visible()
    page.get_by_role("searchbox").fill("effective_cores")
    expect(page.locator(".tree__leaves tr")).to_have_count(3)
    expect(page).to_have_url(re.compile(re.escape("search=effective_cores")))


def test_very_many_attributes_come_part_by_part(visit, ada, page, project):
    run = make_run(project, state="finished")
    write_values(run, {f"params/all/{number:04}": number for number in range(1_200)})
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    visit(f"/runs/{run.id}/attributes", ada)
    rows = page.locator(".tree__leaves tr")
    more = page.locator(".tree__more:visible")
    assert not [url for url in asked if "prefix" in url]

    page.locator(".tree__branch > summary", has_text="params/").click()
    page.locator(".tree__branch > summary", has_text="all/").click()
    expect(rows).to_have_count(500)
    expect(more).to_have_text("Show 500 more of 700")
    address = more.get_attribute("href")
    more.focus()
    page.keyboard.press("Enter")
    expect(rows).to_have_count(1_000)
    more.click()
    expect(rows).to_have_count(1_200)
    expect(more).to_have_count(0)

    # The same link shows a colleague the same part, and how to leave it.
    visit(address)
    expect(rows).to_have_count(500)
    expect(rows.first).to_contain_text("0500")
    page.get_by_role("searchbox").fill("119")
    expect(rows).to_have_count(12)
    # With few rows, because axe compares each button with all others.
    assert violations(page) == []
    page.get_by_role("link", name="All attributes").click()
    expect(page.locator(".tree__branch > summary")).to_have_count(1)


def end(project, run):
    """Let every process of a run end; its sample has one for each stage."""
    time = TRAIN_START + int(2 * STEPS * STEP_SECONDS * SECOND)
    for spool in Spool.objects.filter(run=run, state="running").select_related("stage"):
        process = Process(project, run.name, stage=spool.stage.name)
        process.spool_id = spool.id
        process.next_number = spool.last_number + 1
        process.send([close_message(time=time)])
    settle(run)


def test_what_opens_below_the_header_fits_and_covers_none_of_its_buttons(
    visit, ada, project
):
    run = make_sample_run(project)
    page = visit(f"/runs/{run.id}/", ada)

    for width, name in product((1360, 390), ("describe", "join")):
        page.set_viewport_size({"width": width, "height": 900})
        page.locator(f"#run-{name} > summary").click()
        panel = page.locator(f"#run-{name} .run__join-panel").bounding_box()
        lines = [
            page.locator(f"#run-{each} > summary").bounding_box()
            for each in ("describe", "join")
        ]
        assert panel["x"] >= 0
        assert panel["x"] + panel["width"] <= width
        assert panel["y"] >= max(line["y"] + line["height"] for line in lines)
        page.locator(f"#run-{name} > summary").click()

    page.locator("#run-join > summary").click()
    code = page.locator("#run-join pre")
    assert code.evaluate("pre => pre.scrollWidth <= pre.clientWidth")


def test_on_a_phone_the_header_leaves_the_first_screen_to_the_run(
    visit, ada, page, project
):
    run = make_sample_run(project, is_live=True)
    write_tags(run, "baseline", "for the paper")
    write_values(run, {"description": "What was tried, and why. " * 10})
    page.set_viewport_size(PHONE)

    visit(f"/runs/{run.id}/", ada)

    box = page.locator("#run-header").bounding_box()
    assert box["height"] <= PHONE["height"] * 0.3
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert violations(page) == []
    # Long lines scroll horizontally.
    copy = page.get_by_role("button", name="Copy ID")
    copy.scroll_into_view_if_needed()
    expect(copy).to_be_in_viewport()
