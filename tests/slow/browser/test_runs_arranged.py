"""The runs table as people arrange it: columns, order, groups, views, many runs at once."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.builders import (
    make_member,
    make_project,
    make_run,
    write_series,
    write_tags,
    write_values,
)
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now, wait_until
from tests.slow.browser.many_runs import add_runs
from tests.slow.browser.test_runs_grid import (
    add_filter,
    head,
    mark,
    names,
    query_field,
)
from tests.tracker.queries.ledgers import add_ledger
from tests.web.sample_run import settle
from tracker.models import Attribute, Run, SavedView
from tracker.queries.runs import groups as run_groups

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def open_runs(visit, ada, project):
    def open_page(query: str = "") -> Page:
        return visit(f"/w/{project.workspace.slug}/{project.slug}/{query}", ada)

    return open_page


def add(project, name, **values) -> Run:
    run = make_run(project, name)
    write_values(
        run, {path.replace("__", "/"): value for path, value in values.items()}
    )
    return run


def heads(page: Page) -> list[str]:
    cells = page.get_by_role("columnheader")
    return cells.evaluate_all("cells => cells.map(cell => cell.dataset.key)")


def state(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(address_now(page)).query)


def panel(page: Page, name: str):
    page.locator(f"[data-part={name}] > summary").click()
    return page.locator(f"[data-part={name}] > .drop__panel")


def test_a_column_is_searched_for_and_added_with_the_keyboard(open_runs, project):
    run = make_run(project, "a")
    write_series(run, "train/loss", [4.0, 1.0, 2.0])
    settle(run)
    page = open_runs("?column=state")

    columns = panel(page, "columns")
    expect(columns.get_by_label("Search columns")).to_be_focused()
    columns.get_by_label("Series value").select_option("min")
    columns.get_by_label("Search columns").press_sequentially("LOSS")
    expect(columns.get_by_role("listbox").get_by_role("option").first).to_have_text(
        "min(train/loss)"
    )
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(head(page, "loss")).to_be_visible()
    page.keyboard.press("Escape")

    expect(columns).to_be_hidden()
    expect(page.get_by_role("gridcell", name="1", exact=True)).to_be_visible()
    assert state(page)["column"] == ["state", "min:train/loss"]
    page.reload(wait_until="networkidle")
    assert heads(page) == ["name", "state", "min:train/loss"]


def test_columns_are_moved_pinned_and_removed_with_the_keyboard(open_runs, project):
    add_runs(project, 3)
    page = open_runs("?column=state&column=started&column=gpu")
    grid = page.get_by_role("grid")

    grid.focus()
    grid.press("ArrowUp")
    grid.press("ArrowRight")
    grid.press("Alt+ArrowRight")
    expect(page.get_by_role("columnheader").nth(2)).to_have_attribute(
        "data-key", "state"
    )
    grid.press("ArrowRight")
    grid.press("p")
    expect(
        page.locator(".runs-grid__row--head .runs-grid__cell--pinned")
    ).to_have_count(1)
    assert heads(page)[:2] == ["name", "state"]
    grid.press("ArrowRight")
    grid.press("ArrowRight")
    grid.press("Delete")

    expect(page.get_by_role("columnheader")).to_have_count(3)
    assert state(page)["pin"] == ["1"]
    page.reload(wait_until="networkidle")
    assert len(heads(page)) == 3


def test_columns_are_dragged_and_resized(open_runs, project):
    add_runs(project, 3)
    page = open_runs("?column=state&column=started&column=duration")
    box = head(page, "Duration").bounding_box()
    first = head(page, "State").bounding_box()

    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(first["x"] + 5, first["y"] + 10, steps=5)
    page.mouse.up()
    expect(page.get_by_role("columnheader").nth(1)).to_have_attribute(
        "data-key", "duration"
    )
    # A drag is no click.
    assert "sort" not in state(page)

    box = head(page, "Duration").bounding_box()
    edge = box["x"] + box["width"] - 2
    page.mouse.move(edge, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(edge + 60, box["y"] + 10, steps=5)
    page.mouse.up()
    assert state(page)["width"] == ["166:duration"]
    page.reload(wait_until="networkidle")
    assert head(page, "Duration").bounding_box()["width"] == 166


def test_a_menu_says_what_can_be_done_with_a_column(open_runs, project):
    for name, lr in [("b", 1), ("a", 2)]:
        add(project, name, params__lr=lr)
    page = open_runs()
    grid = page.get_by_role("grid")

    head(page, "lr").click(button="right")
    menu = page.get_by_role("menu")
    expect(menu.get_by_role("menuitem").first).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(head(page, "lr")).to_have_attribute("aria-sort", "ascending")
    wait_until(page, lambda: names(page) == ["b", "a"])

    expect(grid).to_be_focused()
    head(page, "lr").click(button="right")
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    head(page, "lr").click(button="right")
    menu.get_by_role("menuitem", name="Remove column").click()
    expect(head(page, "lr")).to_have_count(0)


def test_shift_sorts_by_one_more_column_and_heads_say_which_is_first(
    open_runs, project
):
    for name, lr, loss in [("a", 1, 0.3), ("b", 2, 0.1), ("c", 1, 0.2)]:
        add(project, name, params__lr=lr, test__loss=loss)
    page = open_runs("?column=path:params/lr&column=path:test/loss")

    head(page, "lr").click()
    expect(head(page, "lr")).to_have_attribute("aria-sort", "descending")
    head(page, "loss").click(modifiers=["Shift"])
    expect(page.locator(".runs-grid__arrow[data-place='2']")).to_be_visible()
    assert names(page) == ["b", "a", "c"]
    head(page, "loss").click(modifiers=["Shift"])
    expect(head(page, "loss")).to_have_attribute("aria-sort", "ascending")

    assert names(page) == ["b", "c", "a"]
    assert state(page)["sort"] == ["-path:params/lr", "path:test/loss"]


def test_groups_show_numbers_and_open_to_their_runs(open_runs, project):
    for name, optimizer, loss in [("a", "x", 0.1), ("b", "y", 0.3), ("c", "x", 0.5)]:
        add(project, name, params__optimizer=optimizer, test__loss=loss)
    page = open_runs("?column=path:test/loss&sort=name")

    groups = panel(page, "groups")
    groups.get_by_role("option", name="params/optimizer").click()
    expect(page.get_by_text("2 groups of 3 runs")).to_be_visible()
    page.keyboard.press("Escape")
    first = page.locator(".runs-grid__row--group").first
    expect(first).to_contain_text("optimizer x")
    expect(first.get_by_role("gridcell").nth(1)).to_have_text("0.3")
    page.get_by_label("Group value").select_option("best")
    expect(first.get_by_role("gridcell").nth(1)).to_have_text("0.1")

    grid = page.get_by_role("treegrid")
    grid.focus()
    grid.press("Enter")
    expect(page.get_by_role("link", name="c", exact=True)).to_be_visible()
    expect(first).to_have_attribute("aria-expanded", "true")
    assert violations(page) == []
    page.reload(wait_until="networkidle")
    expect(page.get_by_role("link", name="c", exact=True)).to_be_visible()
    mark(page, "c").click()
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.get_by_role("treegrid").press("ArrowUp")
    page.get_by_role("treegrid").press("ArrowUp")
    page.get_by_role("treegrid").press("ArrowLeft")
    expect(page.get_by_role("link", name="c", exact=True)).to_be_hidden()


def test_groups_are_there_before_their_numbers(visit, ada, project):
    for name, optimizer, loss in [("a", "x", 0.1), ("b", "y", 0.3), ("c", "x", 0.5)]:
        add(project, name, params__optimizer=optimizer, test__loss=loss)
    held, asked = [], []

    def hold(route) -> None:
        held.append(route)

    page = visit("/", ada)
    page.route("**/groups.json?**", hold)
    page.on("request", lambda request: asked.append(request.url))

    query = "?column=path:test/loss&group=path:params/optimizer"
    page.goto(f"{page.url}w/{project.workspace.slug}/{project.slug}/{query}")

    first = page.locator(".runs-grid__row--group").first
    expect(first).to_contain_text("optimizer x")
    expect(page.get_by_text("2 groups of 3 runs")).to_be_visible()
    expect(first.get_by_role("gridcell").nth(1)).to_have_text("")
    # The page's own content is not requested again.
    assert [url for url in asked if "runs.json" in url] == []
    held[0].continue_()
    expect(first.get_by_role("gridcell").nth(1)).to_have_text("0.3")


def test_numbers_of_the_run_fill_the_rows_of_groups(open_runs, project):
    for name, idle in [("a", 900.0), ("b", 2_700.0), ("c", None)]:
        run = add(project, name, params__optimizer="x")
        if idle is None:
            Run.objects.filter(id=run.id).update(
                made_by=None, started_at=None, active_seconds=None
            )
            continue
        write_series(run, "monitoring/train/gpu/0/utilization_percent", [idle / 90])
        settle(run)
        run.diagnoses.all().delete()
        add_ledger(run, computing=3_600.0 - idle, idle=idle, energy=7.2e6)
        end = run.started_at + timedelta(minutes=5)
        Run.objects.filter(id=run.id).update(
            ended_at=end, active_seconds=300.0, active_since=None
        )
    shown = ("duration", "gpu", "gpu_idle", "gpu_hours", "energy")
    columns = "&".join(f"column={key}" for key in shown)
    page = open_runs(f"?{columns}&column=cpu&group=path:params/optimizer")
    group = page.locator(".runs-grid__row--group")
    cells = group.first.get_by_role("gridcell")

    expect(cells.nth(2)).to_have_text("20 %")
    assert cells.all_text_contents()[1:] == [
        *("5 min", "20 %", "50 %", "1", "2 kWh", "")
    ]
    expect(cells.nth(3)).to_have_attribute("title", re.compile("min 25 %.*2 values$"))
    page.get_by_label("Group value").select_option("best")
    expect(cells.nth(3)).to_have_text("25 %")

    groups = panel(page, "groups")
    groups.get_by_label("Search attributes to group by").fill("created")
    groups.get_by_role("option", name="Created by").click()
    page.locator("[data-part=groups] > summary").click()
    expect(page.get_by_text("2 groups of 3 runs")).to_be_visible()
    expect(group.nth(1)).to_contain_text("Created by none")
    group.nth(0).click()
    expect(page.get_by_role("link", name="a", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="c", exact=True)).to_be_hidden()


def test_columns_without_numbers_of_very_many_runs_say_why(
    open_runs, project, monkeypatch
):
    monkeypatch.setattr(run_groups, "MAX_NUMBERS", 1)
    paths = [f"p/{number}" for number in range(9)]
    write_values(make_run(project, "a"), dict.fromkeys(paths, 0.5))
    columns = "&".join(f"column=path:{path}" for path in paths)
    page = open_runs(f"?{columns}&group=state")
    cells = page.locator(".runs-grid__row--group").first.get_by_role("gridcell")

    expect(cells.nth(8)).to_have_text("0.5")
    expect(cells.nth(9)).to_have_text("–")
    expect(cells.nth(9)).to_have_attribute(
        "title", re.compile("only the first columns")
    )


def test_a_run_is_shown_in_the_group_of_each_of_its_tags(open_runs, project):
    for name, tags in [("a", ["x", "y"]), ("b", ["x"]), ("c", [])]:
        write_tags(make_run(project, name), *tags)
    page = open_runs("?column=tags&sort=name")

    head(page, "Tags").click(button="right")
    page.get_by_role("menuitem", name="Group by this column").click()
    expect(page.get_by_text("3 groups of 3 runs")).to_be_visible()
    group = page.locator(".runs-grid__row--group")
    for place, members in [(2, ["c"]), (1, ["a"])]:
        group.nth(place).click()
        for name in members:
            expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="b", exact=True)).to_be_hidden()


def test_a_view_is_kept_changed_and_opened_by_its_name(open_runs, project):
    add_runs(project, 3)
    page = open_runs("?sort=name&column=state")

    panel(page, "views")
    page.get_by_label("New view name").fill("By name")
    page.get_by_label("Share with project").check()
    page.get_by_role("button", name="Save view").click()
    page.wait_for_url("**/?view=*")
    assert heads(page) == ["name", "state"]
    assert list(state(page)) == ["view"]
    expect(page.locator("[data-part=views] > summary")).to_contain_text("By name")

    head(page, "Name").click()
    expect(page.get_by_text("changed")).to_be_visible()
    assert state(page)["sort"] == ["-name"]
    panel(page, "views")
    assert violations(page) == []
    page.get_by_role("button", name="Update").click()
    page.get_by_role("dialog").get_by_role("button", name="Update").click()
    page.wait_for_url(re.compile(r"\?view=[0-9a-f-]+$"))
    assert names(page)[0] == "run 00002"

    panel(page, "views")
    page.get_by_role("button", name="Set as default").click()
    page.wait_for_load_state("networkidle")
    page = open_runs()
    assert names(page)[0] == "run 00002"
    assert SavedView.objects.get().is_default
    panel(page, "views")
    page.get_by_role("button", name="Move to trash").click()
    page.wait_for_url(re.compile(r"/vision/$"))
    assert not SavedView.objects.exists()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(re.compile(r"\?view=[0-9a-f-]+$"))
    assert names(page)[0] == "run 00002"
    assert SavedView.objects.get().is_default


def test_many_runs_are_tagged_and_it_can_be_undone(open_runs, project):
    add_runs(project, 5)
    page = open_runs()
    mark(page, "run 00001").click()
    mark(page, "run 00003").click(modifiers=["Shift"])

    tags = panel(page, "tags")
    tags.get_by_label("Tag").fill("nightly")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Added tag “nightly” to 3 runs")).to_be_visible()
    expect(page.locator(".runs-grid .chip", has_text="nightly")).to_have_count(3)
    page.get_by_role("button", name="Undo").click()

    expect(page.locator(".runs-grid .chip", has_text="nightly")).to_have_count(0)
    assert not Attribute.objects.filter(path="tags").exclude(items=[]).exists()


def test_many_runs_go_to_the_trash_and_come_back(open_runs, project):
    add_runs(project, 5)
    page = open_runs()
    for name in ("run 00001", "run 00002"):
        mark(page, name).click()

    page.locator("[data-part=trash]").click()
    expect(page.get_by_text("Moved 2 runs to the trash")).to_be_visible()
    expect(page.get_by_text("3 runs", exact=True)).to_be_visible()
    page.get_by_role("button", name="Undo").click()

    expect(page.get_by_text("5 runs", exact=True)).to_be_visible()
    expect(page.get_by_text("2 selected")).to_be_visible()


def test_a_run_keeps_its_colour_when_others_leave(open_runs, project):
    runs = {run.name: run for run in add_runs(project, 4)}
    page = open_runs()
    for name in ("run 00000", "run 00001", "run 00002"):
        mark(page, name).click()
    mark(page, "run 00000").click()
    page.locator(".runs-grid__eye:visible").last.click()

    expect(page.locator(".runs-grid__row--unseen")).to_have_count(1)
    kept = ",".join(str(runs[name].id) for name in ("run 00001", "run 00002"))
    expect(page.locator("[data-part=compare]")).to_have_attribute(
        "href", f"/w/ada-workspace/vision/compare?runs={kept}&colours=1.2&hidden=2"
    )
    page.reload(wait_until="networkidle")
    expect(page.get_by_text("2 selected")).to_be_visible()
    swatch = mark(page, "run 00002").get_attribute("style")
    assert "--run-2" in swatch


def test_rows_have_three_heights_and_the_place_is_kept(open_runs, project):
    add_runs(project, 200)
    page = open_runs()
    page.locator(".runs-grid").evaluate("grid => { grid.scrollTop = 28 * 100 }")
    expect(page.get_by_role("link", name="run 00100")).to_be_visible()

    page.locator("[data-part=columns] > summary").click()
    page.get_by_role("button", name="Small").click()

    expect(page.get_by_role("link", name="run 00100")).to_be_visible()
    row = page.locator(".runs-grid__row[data-position='105']")
    assert row.bounding_box()["height"] == 22
    assert state(page)["rows"] == ["22"]


def test_runs_stay_on_top_and_the_first_is_what_others_are_compared_with(
    open_runs, project
):
    for number in range(60):
        add(project, f"run-{number:02}", accuracy=0.5 + number / 100)
    page = open_runs("?column=path:accuracy&sort=name")
    grid = page.get_by_role("grid")

    grid.focus()
    grid.press("ArrowDown")
    grid.press("t")
    on_top = page.locator(".runs-grid__row--top")
    expect(on_top).to_have_text(re.compile("run-01"))
    row = page.get_by_role("row").filter(has_text="run-02")
    expect(row).to_contain_text("+2 %")
    row.hover()
    row.locator(".runs-grid__pin").click()
    expect(on_top).to_have_count(2)
    expect(on_top.nth(1)).to_contain_text("+2 %")
    assert len(state(page)["top"]) == 2

    # Sorting puts the last one first; pinned rows stay, scrolled or sorted.
    head(page, "Name").click()
    expect(page.locator("[data-position='2']")).to_contain_text("run-59")
    grid.press("Control+End")
    expect(page.get_by_role("row").filter(has_text="run-00")).to_be_in_viewport()
    expect(on_top.first).to_be_in_viewport()
    grid.press("Control+Home")
    expect(page.locator("[data-position='0'] .is-active")).to_be_visible()
    assert violations(page) == []
    page.reload(wait_until="networkidle")
    expect(on_top).to_have_count(2)

    # The run itself can be let go of from either of its rows.
    on_top.first.hover()
    on_top.first.locator(".runs-grid__pin").click()
    expect(on_top).to_have_count(1)
    expect(on_top).to_have_text(re.compile("run-02"))
    page.locator("[name=q]").fill("run-4")
    expect(page.locator("[data-position='1']")).to_contain_text("run-49")
    expect(on_top).to_have_text(re.compile("run-02"))


def test_no_more_than_six_runs_stay_on_top(open_runs, project):
    add_runs(project, 8)
    page = open_runs("?sort=name")
    grid = page.get_by_role("grid")

    grid.focus()
    for count in range(1, 7):
        grid.press("Control+End")
        for _ in range(count):
            grid.press("ArrowUp")
        grid.press("t")
        expect(page.locator(".runs-grid__row--top")).to_have_count(count)
    grid.press("Control+End")
    grid.press("t")

    expect(page.locator(".toast")).to_contain_text("You can pin at most 6 runs")
    expect(page.locator(".runs-grid__row--top")).to_have_count(6)


def test_the_csv_of_groups_holds_what_they_show(open_runs, project):
    for name, optimizer, loss in [("a", "x", 0.1), ("b", "y", 0.3), ("c", "x", 0.5)]:
        add(project, name, params__optimizer=optimizer, test__loss=loss)
    page = open_runs("?column=path:test/loss&group=path:params/optimizer")
    expect(page.get_by_text("2 groups of 3 runs")).to_be_visible()

    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").click()

    assert saved.value.suggested_filename == "vision-groups.csv"
    head, first, _ = list(csv.reader(io.StringIO(saved.value.path().read_text())))
    assert head[:4] == [
        *("params/optimizer", "runs", "runs with test/loss", "mean of test/loss")
    ]
    assert first == ["x", "2", "2", "0.3", "0.1", "0.5", "0.1"]


def test_groups_stand_below_what_is_on_top(open_runs, project):
    runs = [
        add(project, f"run-{n}", params__lr=0.1 * (n % 2), accuracy=n) for n in range(6)
    ]
    page = open_runs(
        f"?column=path:accuracy&group=path:params/lr&top={runs[3].id}&sort=name"
    )

    group = page.locator("[data-position='1']")
    expect(page.locator("[data-position='0']")).to_contain_text("run-3")
    expect(group).to_have_class(re.compile("--group"))
    group.click()
    expect(group).to_have_attribute("aria-expanded", "true")
    expect(page.locator("[data-position='2']")).to_contain_text("run-")
    expect(page.locator(".runs-grid__row:visible")).to_have_count(7)


def test_filters_write_the_query(open_runs, project):
    for name, loss in [("a", 0.1), ("b", 0.9)]:
        add(project, name, test__loss=loss)
    page = open_runs()

    add_filter(page, "test/loss", "0.5")
    expect(page.get_by_text("1 of 2 runs")).to_be_visible()
    form = panel(page, "query-form")
    form.get_by_role("combobox", name="Column").fill("two words")
    form.get_by_role("combobox", name="Operator").select_option("not exists")
    assert violations(page) == []
    form.get_by_role("button", name="Add filter").click()

    expect(query_field(page)).to_have_value(
        'test/loss < 0.5 and not exists "two words"'
    )


def test_attributes_alone_are_offered_to_compute_with(open_runs, project):
    add(project, "a", dual__loss=1.0)
    page = open_runs()
    field = query_field(page)
    options = page.get_by_role("listbox", name="Paths").get_by_role("option")

    for before, offered in [
        ("du", ["duration", "dual/loss"]),
        ("train/loss - du", ["dual/loss"]),
        ("train/loss*du", ["dual/loss"]),
        ("(a + b) / du", ["dual/loss"]),
        ("a < 1 and du", ["duration", "dual/loss"]),
    ]:
        field.fill("")
        field.press_sequentially(before)
        expect(options).to_have_text(offered)

    options.get_by_text("dual/loss").click()
    expect(field).to_have_value("a < 1 and dual/loss")


@pytest.mark.parametrize(
    "query",
    [
        "",
        "train/loss < 0.3",
        "min(train/loss) >= -1e-4 and params/optimizer = adam",
        '"two words" = "1"',
        'tags contains "a b" and note ~ "x \\" y"',
        "not exists params/lr and train/loss is nan",
        'exists "state" and started > -7d and duration > 2h',
        "state != failed",
        "train/loss < val/loss",
        'x = "true" and y = true and z = "2026-01-31" and w > 2026-01-31',
    ],
)
def test_a_query_is_the_same_after_it_was_rows(modules, query):
    again = modules.evaluate(
        """async (query) => {
          const { rowsOf, textOf } = await import("/static/web/js/query/query_rows.js")
          return textOf(rowsOf(query))
        }""",
        query,
    )

    assert again == query


@pytest.mark.parametrize(
    "query",
    [
        *("a < 1 or b < 2", "(a < 1)", "not a < 1", "a <", "a < 1 and", '"a', "a b"),
        *("a - b < 1", "a*b < 1", "a + b<1", '"a" / 2 < 1', "(a - b) / 2 < 1"),
        *("1 < a", "a < b*2", "a < b - 2", "a < (b)", "a < max(b)", "a < 2*b"),
    ],
)
def test_what_rows_cannot_say_is_left_to_the_field(modules, query):
    rows = modules.evaluate(
        """async (query) => {
          const { rowsOf } = await import("/static/web/js/query/query_rows.js")
          return rowsOf(query)
        }""",
        query,
    )

    assert rows is None


def test_the_language_s_own_words_are_completed(open_runs, project):
    add_ledger(make_run(project, "a"), computing=3_600.0, energy=7.2e6)
    add(project, "b", energy=3)
    page = open_runs()
    field = query_field(page)
    options = page.get_by_role("listbox", name="Paths").get_by_role("option")

    field.press_sequentially("dur")
    expect(options).to_have_text(["duration"])
    field.fill("")
    field.press_sequentially("energ")
    # The number of each run has a unit, and an attribute of that name is quoted.
    expect(options).to_have_text(["energy kilowatt-hours", '"energy"'])
    assert violations(page) == []
    field.press("ArrowDown")
    field.press("Enter")
    field.press_sequentially(" > 1.5")
    expect(page.get_by_text("1 of 2 runs")).to_be_visible()
    assert names(page) == ["a"]
    field.fill("")
    field.press_sequentially("energy")
    expect(options).to_have_text(['"energy"'])
    field.press("ArrowDown")
    field.press("Enter")
    field.press_sequentially(" > 1.5")
    expect(field).to_have_value('"energy" > 1.5')
    expect(page.get_by_role("link", name="b", exact=True)).to_be_visible()
    assert names(page) == ["b"]
    field.fill("")
    field.press_sequentially("state = f")
    expect(options).to_have_text(["finished", "failed"])


def test_a_phone_has_room_for_the_panels(open_runs, project):
    add_runs(project, 20)
    page = open_runs()
    page.set_viewport_size(PHONE)

    for name in ("columns", "groups", "views", "query-form"):
        shown = panel(page, name)
        expect(shown).to_be_visible()
        box = shown.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        page.keyboard.press("Escape")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_chosen_columns_keep_the_focus_while_the_table_is_refreshed(
    open_runs, project
):
    make_run(project, "a")
    page = open_runs("?column=state&column=duration")
    columns = panel(page, "columns")
    button = columns.get_by_role("button", name="Move state right")
    button.focus()

    with page.expect_response(re.compile("runs.json")):
        pass
    page.evaluate("() => new Promise((drawn) => setTimeout(drawn))")

    expect(button).to_be_focused()


def test_ticked_runs_are_moved_to_another_project(open_runs, ada, project):
    target = make_project(ada, "speech")
    for name in "abc":
        make_run(project, name, "finished")
    page = open_runs()
    for name in "ab":
        mark(page, name).click()

    page.locator("[data-part=move]").click()
    page.locator("#project").select_option("speech")
    page.get_by_role("button", name="Move 2 runs").click()

    expect(page.get_by_text("Moved 2 runs to")).to_be_visible()
    assert Run.objects.filter(project=target).count() == 2


def test_a_run_shows_who_started_it_with_initials(open_runs, ada, project):
    service = make_member("service-1", "member", workspace=ada.workspace)
    service.user.is_service, service.user.name = True, "Nightly CI"
    service.user.save()
    for name, maker in (("a", ada), ("b", service)):
        Run.objects.filter(id=make_run(project, name).id).update(made_by=maker.user)
    page = open_runs("?column=made_by")

    cell = page.locator(".runs-grid .person", has_text="Nightly CI")

    expect(cell.locator(".avatar--service")).to_have_text("NC")
    expect(page.locator(".runs-grid .person .avatar")).to_have_count(2)
