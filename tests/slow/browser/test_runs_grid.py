"""The runs table as people use it: sort, filter, pick, scroll, and watch it live."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, Route, expect

from tests.builders import (
    make_project,
    make_run,
    write_series,
    write_tags,
    write_values,
)
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now, wait_until
from tests.slow.browser.many_runs import add_runs
from tracker.actions.runs import many_runs
from tracker.models import Attribute, Fork, Run, State
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def open_runs(visit, ada, project):
    def open_page(query: str = "") -> Page:
        return visit(f"/w/{project.workspace.slug}/{project.slug}/{query}", ada)

    return open_page


def names(page: Page) -> list[str]:
    """Return the names shown, from top to bottom."""
    rows = page.locator(".runs-grid__row[data-position]:visible")
    found = rows.evaluate_all(
        "rows => rows.map(row => [+row.dataset.position, row.querySelector('a').textContent])"
    )
    return [name for _, name in sorted(found)]


def row_of(page: Page, name: str):
    named = page.get_by_role("link", name=name, exact=True)
    return page.get_by_role("row").filter(has=named)


def mark(page: Page, name: str):
    return row_of(page, name).locator(".runs-grid__mark")


def add_filter(page: Page, column: str, value: str) -> None:
    """Add a filter with the operator that the column usually has."""
    page.locator("[data-part=query-form] > summary").click()
    page.get_by_role("combobox", name="Column").fill(column)
    page.get_by_role("combobox", name="Value").fill(value)
    page.get_by_role("button", name="Add filter").click()


def query_field(page: Page):
    """Open the query and return its field."""
    form = page.locator("[data-part=query-form]")
    # It closes with the answer to a filter that was just added.
    expect(form).not_to_have_attribute("open", "")
    form.locator("> summary").click()
    page.get_by_role("button", name="Edit as query").click()
    return page.get_by_role("combobox", name="Query")


def head(page: Page, name: str):
    return page.get_by_role("columnheader").filter(has_text=name)


def test_names_of_a_sweep_keep_the_part_in_which_they_differ(open_runs, project):
    rates = ("0.1000", "0.0100", "0.0010")
    shared = "resnet50-imagenet-{}-augmentation-strong-with-mixup-seed42"
    for rate in rates:
        make_run(project, shared.format(f"lr{rate}"))

    page = open_runs()

    own = page.locator(".runs-grid__row[data-position]:visible .cut__own")
    assert sorted(own.all_inner_texts()) == sorted(f"lr{rate}-" for rate in rates)
    assert not own.evaluate_all(
        "parts => parts.some(part => part.scrollWidth > part.clientWidth)"
    )
    assert names(page)[0] in {shared.format(f"lr{rate}") for rate in rates}


def test_means_of_the_hardware_say_that_they_are_of_the_whole_run(open_runs, project):
    make_run(project)
    page = open_runs("?column=cpu")

    expect(head(page, "CPU (run)")).to_have_attribute(
        "title", re.compile("over all stages")
    )
    expect(query_field(page)).to_have_attribute(
        "placeholder", re.compile("^Query, for example ")
    )


def test_a_click_on_a_column_sorts_and_the_address_keeps_it(
    open_runs, project, ada, visit
):
    for name, loss in [("b", 0.2), ("a", 0.1), ("c", 0.3)]:
        write_values(make_run(project, name), {"params/rate": loss})
    page = open_runs()

    head(page, "rate").click()
    expect(head(page, "rate")).to_have_attribute("aria-sort", "descending")
    assert names(page) == ["c", "b", "a"]
    head(page, "rate").click()
    expect(head(page, "rate")).to_have_attribute("aria-sort", "ascending")
    assert names(page) == ["a", "b", "c"]

    page.reload(wait_until="networkidle")
    assert "sort=path%3Aparams%2Frate" in address_now(page)
    assert names(page) == ["a", "b", "c"]


def test_the_filter_is_in_the_address_and_can_be_cleared(open_runs, project):
    for name in ("fast", "slow"):
        write_tags(make_run(project, name, State.FINISHED), f"tag of {name}")
    make_run(project, "live")
    page = open_runs()

    page.get_by_label("Filter by name or tag").fill("OF SL")
    expect(page.get_by_text("1 of 3 runs")).to_be_visible()
    assert names(page) == ["slow"]
    page.reload(wait_until="networkidle")
    assert names(page) == ["slow"]

    add_filter(page, "state", "running")
    expect(page.get_by_role("heading", name="No matching runs")).to_be_visible()
    page.get_by_role("button", name="Clear filter").click()
    expect(page.get_by_text("3 runs", exact=True)).to_be_visible()
    assert len(names(page)) == 3
    assert address_now(page).endswith("/")


def test_filters_by_tag(open_runs, project):
    write_tags(make_run(project, "one"), "nightly")
    make_run(project, "two")
    page = open_runs()

    add_filter(page, "tags", "nightly")

    expect(page.get_by_text("1 of 2 runs")).to_be_visible()
    assert names(page) == ["one"]
    assert "query=tags+contains+%22nightly%22" in address_now(page)


def test_tags_that_do_not_fit_are_counted(open_runs, project):
    write_tags(make_run(project, "many"), "baseline", "amp", "a-long-name", "nightly")
    write_tags(make_run(project, "few"), "amp", "dali")
    write_tags(make_run(project, "one"), "n" * 100)
    page = open_runs()

    def shown(name: str) -> list[str]:
        row = page.get_by_role("row").filter(
            has=page.get_by_role("link", name=name, exact=True)
        )
        tags = row.locator(".chip:not(.chip--plain, [class*=chip--r])")
        return tags.all_inner_texts()

    assert shown("many") == ["a-long-name"]
    expect(page.get_by_text("+3", exact=True)).to_be_visible()
    assert shown("few") == ["amp", "dali"]
    assert shown("one") == ["n" * 100]
    expect(page.get_by_text(re.compile(r"^\+\d+$"))).to_have_count(1)


def test_a_run_of_another_year_says_which(open_runs, project):
    started = datetime(2019, 3, 4, 12, tzinfo=UTC)
    Run.objects.create(project=project, name="old", started_at=started)
    page = open_runs()

    expect(page.get_by_text("4 Mar 2019")).to_be_visible()


def test_how_to_write_a_query_is_one_press_away(open_runs, project):
    make_run(project)
    page = open_runs()
    query_field(page).focus()

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_text('tags contains "dali"')).to_be_visible()
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def test_picked_runs_can_be_compared_in_the_order_picked(open_runs, project):
    runs = {run.name: run for run in add_runs(project, 5)}
    page = open_runs()
    compare = page.get_by_role("link", name="Compare").last
    expect(page.locator("[data-part=compare]")).to_have_attribute(
        "aria-disabled", "true"
    )

    mark(page, "run 00003").click()
    # Others are added to one on the page that compares.
    expect(compare).to_have_attribute(
        "href", f"/w/ada-workspace/vision/compare?runs={runs['run 00003'].id}"
    )
    mark(page, "run 00001").click()

    ids = ",".join(str(runs[name].id) for name in ("run 00003", "run 00001"))
    expect(compare).to_have_attribute(
        "href", f"/w/ada-workspace/vision/compare?runs={ids}"
    )
    expect(page.locator("[data-part=ladder]")).to_have_attribute(
        "href", f"/w/ada-workspace/vision/ladders/?runs={ids}"
    )
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_role("button", name="Clear selection").click()
    expect(page.get_by_text("2 selected")).to_be_hidden()


def test_shift_picks_a_range_and_the_choice_survives_scrolling(open_runs, project):
    add_runs(project, 250)
    page = open_runs()

    mark(page, "run 00000").click()
    page.locator(".runs-grid").evaluate("grid => { grid.scrollTop = 28 * 220 }")
    row = mark(page, "run 00225")
    expect(row).to_be_visible()
    row.click(modifiers=["Shift"])

    expect(page.get_by_text("226 selected")).to_be_visible()
    page.locator(".runs-grid").evaluate("grid => { grid.scrollTop = 0 }")
    expect(page.get_by_role("row", selected=True).first).to_be_visible()


FETCHED = """() => performance.getEntriesByType("resource").map(({ name }) => name)
  .filter((name) => /column_picker|query_form|bulk_actions/.test(name)).length"""


def test_what_most_visits_never_open_is_fetched_once_somebody_reaches_for_it(
    open_runs, project, watch
):
    runs = add_runs(project, 2)
    page = open_runs()
    assert page.evaluate(FETCHED) == 0

    page.get_by_text("Columns", exact=True).hover()
    wait_until(page, lambda: page.evaluate(FETCHED) == 1)
    mark(page, runs[0].name).click()
    wait_until(page, lambda: page.evaluate(FETCHED) == 2)
    # If it fails to load, the page shows an error.
    page.route("**/query_form.js", lambda route: route.abort())
    page.locator("[data-part=query-form] > summary").click()
    expect(page.get_by_role("alert")).to_contain_text("could not be loaded")
    watch.allow("ERR_FAILED")
    watch.allow("query_form.js")


# Three rows in each frame, without a rest, until rows far down are read; false: they never
# were.
SCROLL_ON = """async (row) => {
  const grid = document.querySelector(".runs-grid")
  for (let frame = 0; frame < 600; frame += 1) {
    grid.scrollTop += 3 * 28
    await new Promise(requestAnimationFrame)
    const first = Math.ceil(grid.scrollTop / 28)
    if (first > row && grid.querySelector(`[data-position="${first}"] a`)?.textContent) return true
  }
  return false
}"""


def test_rows_come_while_somebody_goes_on_scrolling(open_runs, project):
    add_runs(project, 2_000)
    page = open_runs()

    assert page.evaluate(SCROLL_ON, 300)


def test_the_keyboard_moves_picks_sorts_and_opens(open_runs, project):
    runs = add_runs(project, 200)
    page = open_runs()
    grid = page.get_by_role("grid")
    active = page.locator("#active-cell")
    name = active.get_by_role("link")

    grid.focus()
    grid.press("ArrowDown")
    expect(name).to_have_text("run 00001")
    grid.press("Space")
    expect(page.get_by_role("row", selected=True)).to_have_count(1)
    grid.press("Shift+ArrowDown")
    grid.press("Shift+ArrowDown")
    expect(page.get_by_text("3 selected")).to_be_visible()

    grid.press("Control+End")
    expect(page.get_by_role("link", name="run 00199")).to_be_visible()
    grid.press("Control+Home")
    grid.press("Home")
    grid.press("ArrowUp")
    expect(active).to_have_role("columnheader")
    grid.press("Enter")
    expect(head(page, "Name")).to_have_attribute("aria-sort", "ascending")

    grid.press("ArrowDown")
    grid.press("Enter")
    page.wait_for_url(f"**/runs/{runs[0].id}/")


def test_new_runs_and_values_appear_without_losing_place_or_choice(open_runs, project):
    add_runs(project, 300)
    page = open_runs("?column=tags")
    grid = page.locator(".runs-grid")
    mark(page, "run 00000").click()
    grid.evaluate("grid => { grid.scrollTop = 28 * 150 }")
    expect(page.get_by_role("link", name="run 00155")).to_be_visible()

    run = Run.objects.get(name="run 00156")
    Attribute.objects.create(
        run=run, project=run.project, path="tags", kind="string_set", items=["fresh"]
    )
    expect(page.locator(".chip").filter(has_text="fresh").first).to_be_visible(
        timeout=10_000
    )

    assert grid.evaluate("grid => grid.scrollTop") == 28 * 150
    expect(page.get_by_text("1 selected")).to_be_visible()
    make_run(project, "brand new")
    expect(page.get_by_text("301 runs")).to_be_visible(timeout=10_000)


@pytest.fixture
def family(project):
    """A search with three trials, one of them with two folds, and a single run."""
    search, *trials = (
        make_run(project, name) for name in ("search", "rate-1", "rate-2", "rate-3")
    )
    folds = [make_run(project, f"fold-{number}") for number in (1, 2)]
    alone = make_run(project, "alone")
    for parent, children in ((search, trials), (trials[1], folds)):
        for child in children:
            Run.objects.filter(id=child.id).update(parent=parent)
            write_values(child, {"params/rate": 0.1})
    return SimpleNamespace(search=search, trials=trials, alone=alone)


def fold(page: Page, name: str):
    return row_of(page, name).locator(".runs-grid__fold")


def test_children_are_folded_below_their_parents(open_runs, family):
    page = open_runs("?sort=name")
    assert names(page) == ["alone", "search"]
    expect(row_of(page, "search")).to_contain_text("3 children")
    expect(page.get_by_text("7 runs", exact=True)).to_be_visible()

    fold(page, "search").click()
    fold(page, "rate-2").click()
    expect(page.get_by_role("link", name="fold-2", exact=True)).to_be_visible()
    nested = ["alone", "search", "rate-1", "rate-2", "fold-1", "fold-2", "rate-3"]
    assert names(page) == nested
    assert row_of(page, "fold-1").get_attribute("aria-level") == "3"
    assert violations(page) == []

    page.reload()
    expect(page.get_by_role("link", name="fold-2", exact=True)).to_be_visible()
    assert names(page) == nested
    head(page, "Name").click()
    turned = ["search", "rate-3", "rate-2", "fold-2", "fold-1", "rate-1", "alone"]
    wait_until(page, lambda: names(page) == turned)

    fold(page, "search").click()
    expect(page.get_by_role("link", name="rate-1")).to_have_count(0)
    assert names(page) == ["search", "alone"]


def test_arrows_open_and_close_a_run_with_children(open_runs, family):
    page = open_runs("?sort=name")
    grid = page.get_by_role("treegrid", name="Runs")
    search = row_of(page, "search")
    grid.press("ArrowDown")
    expect(search).to_have_attribute("aria-expanded", "false")

    grid.press("ArrowRight")
    expect(search).to_have_attribute("aria-expanded", "true")
    grid.press("ArrowDown")
    grid.press("ArrowDown")
    expect(row_of(page, "rate-2").locator(".is-active")).to_be_visible()
    grid.press("ArrowLeft")
    expect(search.locator(".is-active")).to_be_visible()
    grid.press("ArrowLeft")

    expect(search).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_role("link", name="rate-2")).to_have_count(0)
    grid.press("ArrowRight")
    grid.press("ArrowRight")
    expect(search.locator("[aria-colindex='2'].is-active")).to_be_visible()


def test_a_fork_links_to_the_run_that_it_continues(open_runs, project):
    base, other = make_run(project, "base"), make_run(project, "lower-rate")
    Fork.objects.create(run=other, source=base, step=40)

    page = open_runs()
    link = row_of(page, "lower-rate").get_by_role(
        "link", name="Forked from base at step 40"
    )
    expect(link).to_have_text("base")
    link.click()

    expect(page).to_have_url(re.compile(f"/runs/{base.id}/"))


def test_a_filter_finds_children_and_names_their_parents(open_runs, family):
    page = open_runs("?sort=name&query=exists params/rate")

    assert names(page) == ["fold-1", "fold-2", "rate-1", "rate-2", "rate-3"]
    expect(row_of(page, "fold-1").locator(".runs-grid__parent")).to_have_text("rate-2")
    expect(page.get_by_role("button", name="Nested")).to_be_hidden()


def test_children_can_be_rows_like_all_others(open_runs, family):
    page = open_runs("?sort=name")

    page.get_by_role("button", name="Nested").click()

    expect(page.get_by_role("link", name="fold-2", exact=True)).to_be_visible()
    assert len(names(page)) == 7
    assert "children=flat" in address_now(page)
    page.get_by_role("button", name="Nested").click()
    wait_until(page, lambda: names(page) == ["alone", "search"])


def test_new_children_appear_below_an_open_run(open_runs, project, family):
    page = open_runs("?sort=name")
    fold(page, "search").click()
    expect(page.get_by_role("link", name="rate-3")).to_be_visible()

    child = make_run(project, "rate-4")
    Run.objects.filter(id=child.id).update(parent=family.search)

    expect(page.get_by_role("link", name="rate-4")).to_be_visible()
    expect(row_of(page, "search")).to_contain_text("4 children")


def test_a_silent_run_is_marked_until_it_is_heard_again(open_runs, project):
    run = make_run(project, "live")
    page = open_runs()
    state = page.get_by_role("row").filter(has_text="live").locator(".runs-grid__state")
    expect(state).to_have_text("running")

    heard = Run.objects.filter(id=run.id)
    heard.update(last_seen_at=timezone.now() - timedelta(minutes=5))
    expect(state).to_contain_text("not responding for 5 min", timeout=10_000)
    assert violations(page) == []

    heard.update(last_seen_at=timezone.now() + timedelta(minutes=5))
    expect(state).to_have_text("running", timeout=10_000)


def test_what_has_not_changed_is_not_asked_for_in_full(open_runs, project):
    add_runs(project, 20)
    page = open_runs()

    with page.expect_response(lambda answer: "runs.json" in answer.url):
        pass
    with page.expect_response(lambda answer: "runs.json" in answer.url) as second:
        pass

    assert second.value.status == 304


def test_of_what_has_changed_only_that_is_sent(open_runs, project):
    add_runs(project, 20)
    page = open_runs("?sort=name&column=state&column=tags")
    changed = Run.objects.order_by("name")[7]

    def is_news(answer) -> bool:
        return "runs.json" in answer.url and answer.status == 200

    with page.expect_response(is_news) as news:
        write_tags(changed, "fresh")
    rows = news.value.json()["rows"]

    assert [row["name"] for row in rows if row not in range(20)] == [changed.name]
    row = page.get_by_role("row").filter(has_text="fresh")
    expect(row).to_contain_text(changed.name)
    first, last = (
        page.locator("[data-position='0']"),
        page.locator("[data-position='19']"),
    )
    before = names(page)
    # The loaded rows move up without a request.
    with page.expect_response(is_news) as news:
        Run.objects.filter(name=before[0]).update(trashed_at=timezone.now())
    assert news.value.json()["rows"] == list(range(1, 20))
    expect(first).to_contain_text(before[1])
    expect(last).to_be_hidden()
    assert names(page) == before[1:]


def test_the_unknown_is_a_dash_and_not_zero(open_runs, project):
    Run.objects.create(project=project, name="bare", state=State.FINISHED)
    columns = ("started", "duration", "made_by", "tags", "finding")
    page = open_runs("?" + "&".join(f"column={key}" for key in columns))

    cells = page.locator(".runs-grid__row[data-position] [role=gridcell]")

    texts = [text.strip() for text in cells.all_inner_texts()]
    said = "not diagnosed"
    assert texts == ["finished\nbare", "–", "–", "–", "", said]
    expect(cells.filter(has_text=said)).to_have_attribute(
        "title", "The diagnosis runs during training and when a stage ends"
    )


def test_a_phone_shows_names_and_scrolls_sideways(open_runs, project):
    add_runs(project, 50)
    page = open_runs()
    page.set_viewport_size(PHONE)

    expect(page.get_by_role("link", name="run 00003")).to_be_in_viewport()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_phone_shows_the_first_metric_and_whole_columns(open_runs, project):
    run = make_run(project, "vit-b16-in1k_lr1e-4_wd0.05_randaug-m9-n2_seed0")
    write_series(run, "val/accuracy", [0.5, 0.7])
    write_values(run, {"params/lr": 0.1})
    compact_run(run.id)
    page = open_runs()
    keys = "cells => cells.map(cell => cell.dataset.key)"
    heads = page.locator(".runs-grid__row--head > [data-key]")
    assert heads.evaluate_all(keys)[:2] == ["name", "started"]

    page.set_viewport_size(PHONE)

    expect(heads.nth(1)).to_have_attribute("data-key", "path:val/accuracy")
    assert heads.evaluate_all(keys)[2] == "started"
    ends = [box["x"] + box["width"] for box in map(Locator.bounding_box, heads.all())]
    assert min(abs(end - PHONE["width"]) for end in ends) < 1
    cell = page.locator("[data-position='0'] > .runs-grid__cell").first
    expect(cell).to_have_text("0.7")

    visited = page.url + "?column=state&column=path:val/accuracy"
    page.goto(visited)
    expect(heads.nth(1)).to_have_attribute("data-key", "state")


def test_nothing_stands_in_the_way_of_assistive_technology(open_runs, project):
    for name, state in [
        ("a", State.RUNNING),
        ("b", State.FAILED),
        ("c", State.CRASHED),
    ]:
        run = make_run(project, name, state)
        write_tags(run, "nightly")
    page = open_runs()
    mark(page, "a").click()

    assert violations(page) == []


def test_an_empty_project_says_how_to_log_a_run(open_runs):
    page = open_runs()

    expect(page.get_by_text("import agent")).to_be_visible()
    assert violations(page) == []


def test_a_query_finds_runs_and_the_address_keeps_it(open_runs, project):
    for name, loss in [("a", 0.1), ("b", 0.9)]:
        write_values(make_run(project, name), {"test/loss": loss})
    page = open_runs()

    query_field(page).fill("test/loss < 0.5")
    expect(page.get_by_text("1 of 2 runs")).to_be_visible()
    assert names(page) == ["a"]
    page.reload(wait_until="networkidle")

    expect(page.get_by_text("1 of 2 runs")).to_be_visible()
    assert names(page) == ["a"]
    expect(query_field(page)).to_have_value("test/loss < 0.5")
    page.get_by_role("button", name="Clear").first.click()
    expect(page.get_by_text("2 runs", exact=True)).to_be_visible()


def test_a_mistake_in_a_query_is_shown_where_it_is(open_runs, project):
    make_run(project, "kept")
    page = open_runs()
    field = query_field(page)

    field.fill("test/loss <<script>")
    mistake = page.locator("#query-mistake")
    expect(mistake).to_contain_text("Expected a number")
    expect(mistake.locator("mark")).to_have_text("<")
    expect(field).to_have_attribute("aria-invalid", "true")
    # The earlier result stays visible, and texts are escaped.
    assert names(page) == ["kept"]
    assert violations(page) == []
    page.reload(wait_until="networkidle")
    expect(mistake).to_be_visible()
    unread = page.get_by_role("heading", name="Invalid filter")
    expect(unread).to_be_visible()
    expect(page.get_by_text("1 run", exact=True)).to_be_visible()

    field.fill('name = "kept"')
    expect(mistake).to_be_hidden()
    expect(unread).to_be_hidden()
    expect(field).to_have_attribute("aria-invalid", "false")
    assert names(page) == ["kept"]


def test_paths_are_completed_with_the_keyboard(open_runs, project):
    write_values(make_run(project, "a"), {"test/loss": 0.1, "test/two words": 1})
    page = open_runs()
    field = query_field(page)
    options = page.get_by_role("listbox", name="Paths").get_by_role("option")

    field.press_sequentially("state = running and test/")
    expect(options).to_have_text(["test/loss", "test/two words"])
    assert violations(page) == []
    field.press("ArrowDown")
    field.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "query-path-1")
    field.press("Enter")
    expect(field).to_have_value('state = running and "test/two words"')
    expect(options.first).to_be_hidden()

    field.press_sequentially(" = 1 or te")
    expect(options.first).to_be_visible()
    field.press("Escape")
    expect(options.first).to_be_hidden()
    expect(field).to_have_value('state = running and "test/two words" = 1 or te')


def test_all_runs_that_match_are_tagged_and_moved_to_the_trash_with_one_undo(
    open_runs, project, watch
):
    add_runs(project, 1_203)
    make_run(project, "another")
    page = open_runs("?q=run")
    box = page.get_by_role("checkbox", name="Select visible runs")

    box.click()
    expect(page.get_by_text("1,000 selected")).to_be_visible()
    expect(box).to_have_attribute("aria-checked", "true")
    page.get_by_role("button", name="Select all 1,203 matching runs").click()
    expect(page.get_by_text("All 1,203 matching runs")).to_be_visible()
    compare = page.locator("[data-part=compare]")
    expect(compare).to_have_attribute("aria-disabled", "true")
    expect(compare).to_have_attribute("title", re.compile("one by one"))

    page.locator("[data-part=tags] summary").click()
    page.get_by_label("Tag", exact=True).fill("old")
    page.get_by_role("button", name="Add", exact=True).click()
    asked = page.get_by_role("dialog", name="Add tag “old” to 1,203 runs?")
    expect(asked).to_be_visible()
    assert violations(page) == []
    # A further run arrives before the confirmation: the page asks again with the new
    # number.
    make_run(project, "run that came")
    asked.get_by_role("button", name="Continue").click()
    again = page.get_by_role("dialog", name="Add tag “old” to 1,204 runs?")
    expect(again).to_contain_text("1,204 instead of 1,203")
    watch.allow("409")
    assert not Attribute.objects.filter(path="tags").exists()
    again.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Added tag “old” to 1,204 runs")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone for 1,204 runs")).to_be_visible()
    assert not Attribute.objects.filter(path="tags").exclude(items=[]).exists()

    page.get_by_role("button", name="Move to trash").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert Run.objects.in_trash().count() == 0
    page.get_by_role("button", name="Move to trash").click()
    page.get_by_role("dialog").get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Moved 1,204 runs to the trash")).to_be_visible()
    assert [run.name for run in Run.objects.not_in_trash()] == ["another"]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("1,204 of 1,205 runs")).to_be_visible()
    # The table may still show the text of the earlier state.
    wait_until(page, lambda: Run.objects.in_trash().count() == 0)


def test_more_runs_than_an_address_names_stay_ticked_when_the_page_is_loaded_again(
    open_runs, project
):
    add_runs(project, 120)
    page = open_runs()
    box = page.get_by_role("checkbox", name="Select visible runs")
    message = page.get_by_text("119 selected")

    box.click()
    # Their rows are fetched first.
    expect(page.get_by_text("120 selected")).to_be_visible()
    mark(page, "run 00002").click()
    expect(message).to_be_visible()
    assert "runs=" not in address_now(page)
    page.get_by_label("Filter by name or tag").fill("run 0000")
    expect(page.get_by_text("10 of 120 runs")).to_be_visible()
    page.reload(wait_until="networkidle")
    expect(message).to_be_visible()
    expect(row_of(page, "run 00003")).to_have_attribute("aria-selected", "true")
    expect(row_of(page, "run 00002")).to_have_attribute("aria-selected", "false")

    # A new visit has no selection.
    page.goto(page.url.partition("?")[0], wait_until="networkidle")
    expect(row_of(page, "run 00003")).to_have_attribute("aria-selected", "false")


def test_a_row_or_another_filter_ends_that_all_that_match_are_ticked(
    open_runs, project
):
    add_runs(project, 1_003)
    page = open_runs()
    message = page.get_by_text("All 1,003 matching runs")
    offer = page.get_by_role("button", name="Select all 1,003 matching runs")
    page.get_by_role("checkbox", name="Select visible runs").click()

    offer.click()
    expect(message).to_be_visible()
    mark(page, "run 00002").click()
    expect(page.get_by_text("999 selected")).to_be_visible()
    offer.click()
    page.get_by_label("Filter by name or tag").fill("run 0001")
    expect(page.get_by_text("10 of 1,003 runs")).to_be_visible()
    expect(page.get_by_text("999 selected")).to_be_visible()


def test_a_change_of_very_many_runs_says_that_it_goes_on_and_how_far_it_is(
    open_runs, project, monkeypatch
):
    add_runs(project, 3_000)
    # There is time for a thousand; then the page asks for the others by their ids.
    moments = iter([0.0, 0.0, many_runs.LASTS_SECONDS])
    clock = SimpleNamespace(monotonic=lambda: next(moments))
    monkeypatch.setattr(many_runs, "time", clock)
    page = open_runs()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/runs/tag", hold)
    page.get_by_role("checkbox", name="Select visible runs").click()
    page.get_by_role("button", name="Select all 3,000 matching runs").click()
    page.locator("[data-part=tags] summary").click()
    page.get_by_label("Tag", exact=True).fill("old")
    add = page.get_by_role("button", name="Add", exact=True)
    progress = page.locator("[data-part=progress]")
    bar = page.locator("[data-part=picked]")
    trash = page.get_by_role("button", name="Move to trash")

    add.click()
    page.get_by_role("dialog").get_by_role("button", name="Continue").click()
    expect(progress).to_have_text("Changing 3,000 runs…")
    expect(bar).to_have_attribute("aria-busy", "true")
    expect(trash).to_be_disabled()
    expect(add).to_be_disabled()
    assert violations(page) == []
    for done in ("1,000", "2,000"):
        next_of(page, held).continue_()
        expect(progress).to_have_text(f"{done} of 3,000 runs done…")
    next_of(page, held).continue_()
    expect(page.get_by_text("Added tag “old” to 3,000 runs")).to_be_visible()
    expect(progress).to_be_hidden()
    expect(bar).not_to_have_attribute("aria-busy", "true")
    expect(trash).to_be_enabled()


def lose(page: Page, what: str) -> None:
    """Let the server handle a request, and drop its answer once."""

    def pass_on(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route(f"**/runs/{what}", pass_on, times=1)


@pytest.mark.parametrize("is_matching", [False, True])
def test_where_an_answer_is_lost_what_changed_is_found_out_and_can_be_undone(
    open_runs, project, watch, is_matching
):
    add_runs(project, 1_005)
    write_tags(Run.objects.get(name="run 00003"), "old")
    page = open_runs("?sort=name")
    if is_matching:
        page.get_by_role("checkbox", name="Select visible runs").click()
        page.get_by_role("button", name="Select all 1,005 matching runs").click()
    else:
        for number in (3, 4):
            mark(page, f"run {number:05}").click()
    page.locator("[data-part=tags] summary").click()
    page.get_by_label("Tag", exact=True).fill("old")
    lose(page, "tag")

    page.get_by_role("button", name="Add", exact=True).click()
    if is_matching:
        page.get_by_role("dialog").get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Checking which runs changed")).to_be_visible()
    done = "1,004 runs" if is_matching else "1 run"
    expect(page.get_by_text(f"Added tag “old” to {done}")).to_be_visible()
    watch.allow("ERR_FAILED")
    tagged = Attribute.objects.filter(path="tags", items=["old"])
    assert tagged.count() == (1_005 if is_matching else 2)
    page.get_by_role("button", name="Undo").click()
    wait_until(page, lambda: tagged.count() == 1)
    assert tagged.get().run.name == "run 00003"


def test_who_is_quicker_than_what_changes_runs_is_heard_once_it_is_there(
    open_runs, project
):
    make_run(project, "one")
    page = open_runs()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/table/bulk_actions.js*", hold)

    mark(page, "one").click()
    page.get_by_role("button", name="Move to trash").click()
    wait_until(page, lambda: len(held) == 1)
    held[0].continue_()

    expect(page.get_by_text("Moved 1 run to the trash")).to_be_visible()


@pytest.mark.parametrize("cut", ['{"changed": ["01', "", "null"])
def test_an_answer_that_is_cut_off_is_no_answer(open_runs, project, cut):
    make_run(project, "one")
    page = open_runs()

    def cut_off(route: Route) -> None:
        route.fetch()
        route.fulfill(status=200, content_type="application/json", body=cut)

    page.route("**/runs/trash", cut_off, times=1)
    mark(page, "one").click()
    page.get_by_role("button", name="Move to trash").click()

    expect(page.get_by_text("Moved 1 run to the trash")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="one")).to_be_visible()


# A context keeps an installed clock, so the test uses a separate one.
@pytest.mark.browser_context_args
def test_where_nobody_can_tell_runs_may_have_changed_and_undo_finds_out_later(
    open_runs, project, watch
):
    make_run(project, "one")
    page = open_runs()
    mark(page, "one").click()
    lose(page, "trash")
    page.route("**/runs/changed?*", lambda route: route.abort())
    page.clock.install()

    page.get_by_role("button", name="Move to trash").click()
    expect(page.get_by_text("Checking which runs changed")).to_be_visible()
    page.clock.fast_forward(60_000)
    expect(page.get_by_text("may still be changing runs")).to_be_visible()
    # The table shows the current runs.
    expect(page.get_by_role("link", name="one")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Nothing has been undone")).to_be_visible()
    watch.allow("ERR_FAILED")
    page.unroute("**/runs/changed?*")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone for 1 run")).to_be_visible()
    expect(page.get_by_role("link", name="one")).to_be_visible()


def next_of(page: Page, held: list[Route]) -> Route:
    """Return the request that is held back, once it has been sent."""
    while not held:
        page.wait_for_timeout(20)
    return held.pop()
