"""Data logged while a page is open appears without a reload."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.builders import (
    make_project,
    make_run,
    records_message,
    write,
    write_series,
    write_values,
)
from tests.slow.browser.accessibility import violations
from tests.slow.browser.test_run_page import wait_until
from tests.tracker.api.v1.test_files import add, file_message
from tracker.actions.dashboards import create_dashboard
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.boards.board import Board, Place, Widget
from tracker.models import Run, State
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RUNS = "/w/ada-workspace/vision/"
DRAWN = '.chart[data-drawn="true"]'
PLOTTED = "document.querySelector('.chart__plot').data"
CPU = "monitoring/train/job/cpu_cores"


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def run(project):
    return make_run(project)


@pytest.fixture
def files(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path


def look_again(page: Page, selector: str) -> None:
    """Make a part of the page poll now, instead of after its interval."""
    page.evaluate(
        "(s) => document.querySelector(s).dispatchEvent(new CustomEvent('every'))",
        selector,
    )


def describe(page: Page, text: str) -> None:
    """Start writing a description, and do not submit it."""
    page.locator("#run-describe summary").click()
    page.get_by_label("Description", exact=True).fill(text)


def described(page: Page) -> str:
    return page.get_by_label("Description", exact=True).input_value()


def test_the_first_page_shows_the_first_run(visit, ada):
    page = visit("/", ada)
    expect(page.get_by_text("Nothing logged yet")).to_be_visible()

    make_run(make_project(ada), "first")

    expect(page.get_by_role("heading", name="Running now")).to_be_visible()
    expect(page.get_by_role("link", name="first")).to_be_visible()


def test_a_token_that_is_shown_once_is_not_taken_away_by_the_first_run(visit, ada):
    page = visit("/", ada)
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_text("see the key again")).to_be_visible()

    make_run(make_project(ada), "first")
    page.get_by_role("link", name="First run received").click(trial=True)

    expect(page.get_by_text("see the key again")).to_be_visible()
    page.get_by_role("link", name="First run received").click()
    expect(page.get_by_role("link", name="first")).to_be_visible()


def test_an_empty_project_shows_its_first_run(visit, ada, project):
    page = visit(RUNS, ada)
    expect(page.get_by_text("No runs yet")).to_be_visible()

    make_run(project, "first")

    expect(page.get_by_role("grid", name="Runs")).to_contain_text("first")


def test_home_shows_what_ended_and_keeps_what_is_typed(visit, ada, project):
    for number in range(12):
        make_run(make_project(ada, f"p{number}"), "done", "finished")
    page = visit("/", ada)
    search = page.get_by_role("searchbox", name="Filter projects")
    search.fill("p1")
    expect(page.locator("#projects tbody tr:visible")).to_have_count(3)

    make_run(project, "later", "finished")
    look_again(page, "#home-columns")

    expect(page.locator("#home-columns")).to_contain_text("later")
    expect(search).to_have_value("p1")
    expect(page.locator("#projects tbody tr:visible")).to_have_count(3)


def test_hardware_shows_the_first_readings_and_later_ones(visit, ada, run):
    page = visit(f"/runs/{run.id}/hardware", ada)
    expect(page.get_by_text("No hardware metrics yet")).to_be_visible()
    describe(page, "half a sentence")

    write_series(run, CPU, [1.0, 3.0])
    compact_run(run.id)

    expect(page.locator(DRAWN)).to_be_visible()
    assert described(page) == "half a sentence"
    expect(page.locator(".hardware__readings")).to_contain_text("3")
    page.evaluate("document.getElementById('hardware-figure').isTheSame = true")
    write_series(run, CPU, [7.0])
    compact_run(run.id)
    look_again(page, "#run-hardware")
    expect(page.locator(".hardware__readings")).to_contain_text("7")
    assert page.evaluate("document.getElementById('hardware-figure').isTheSame")


def test_logs_show_the_first_lines_then_other_logs_and_texts(visit, ada, run):
    page = visit(f"/runs/{run.id}/logs", ada)
    expect(page.get_by_text("No logs yet")).to_be_visible()

    write(run, [records_message("logs/stdout", ["epoch 1 of 10"])])

    expect(page.locator(".log__line")).to_contain_text(["epoch 1 of 10"])
    page.get_by_role("searchbox", name="Find in log").fill("epoch")
    write(
        run,
        [
            records_message("logs/worker", ["here I am"]),
            records_message("samples/text", ["once upon a time"]),
        ],
    )
    look_again(page, "#run-logs")
    expect(page.get_by_role("navigation", name="Log")).to_contain_text("logs/worker")
    expect(page.get_by_role("cell", name="once upon a time")).to_be_visible()
    expect(page.get_by_role("searchbox", name="Find in log")).to_have_value("epoch")
    expect(page.locator(".log__matches")).to_have_text("1 of 1")
    # The open log grows in the existing element.
    write(run, [records_message("logs/stdout", ["epoch 2 of 10"])])
    expect(page.locator(".log__line").last).to_contain_text("epoch 2 of 10")


@pytest.mark.usefixtures("files")
def test_files_appear_and_arrive(visit, ada, run):
    page = visit(f"/runs/{run.id}/files", ada)
    expect(page.get_by_text("No files yet")).to_be_visible()

    write(run, [file_message("model/last", b"x")])

    expect(page.locator("#files")).to_contain_text("uploading")
    expect(page.locator("#files-status")).to_contain_text("1 uploading")
    page.get_by_role("link", name="last").click()
    expect(page.locator("#file-preview")).to_contain_text("Uploading")
    add(run, "model/last", b"x")
    look_again(page, "#files")
    expect(page.locator("#files")).not_to_contain_text("uploading")
    expect(page.locator("#files-status")).not_to_contain_text("uploading")
    expect(page.locator("#file-preview")).not_to_contain_text("Uploading")


def test_attributes_change_in_branches_as_somebody_has_opened_them(visit, ada, run):
    write_values(run, {f"params/b/{n:03}": n for n in range(30)})
    page = visit(f"/runs/{run.id}/attributes?prefix=params/", ada)
    branch = page.locator("details.tree__branch", has_text="b/")
    branch.locator("summary").click()
    expect(branch).to_contain_text("029")

    write_values(run, {"params/a/first": 1, "params/b/000": 432, "params/b/x": 5})
    look_again(page, "#attributes")

    expect(branch).to_contain_text("432")
    expect(branch.get_by_role("link", name="x", exact=True)).to_be_visible()
    expect(page.locator("#attributes")).to_contain_text("first")
    expect(page.locator("#attributes-status")).to_contain_text("32 attributes")
    assert branch.evaluate("(each) => each.open")
    # A branch that the user closed stays closed.
    branch.locator("summary").first.click()
    write_values(run, {"params/b/y": 6})
    look_again(page, "#attributes")
    expect(page.locator("#attributes-status")).to_contain_text("33 attributes")
    assert not branch.evaluate("(each) => each.open")


def test_a_dashboard_on_which_nothing_runs_wakes_up(visit, ada, project):
    ended = make_run(project, "ended", "finished")
    write_series(ended, "train/loss", [1.0, 0.5])
    settings = {"metrics": ["train/loss"]}
    chart = Widget(id="c0c0c0c0", kind="chart", place=Place(), settings=settings)
    board = create_dashboard(
        project, "nightly", Board(widgets=(chart,)), user_id=ada.user_id
    )
    page = visit(f"/dashboards/{board.id}/", ada)
    expect(page.locator(DRAWN)).to_be_visible()
    assert page.locator("figure").get_attribute("data-live") == "false"

    begun = make_run(project, "begun")
    write_series(begun, "train/loss", [0.9, 0.4])
    look_again(page, ".widget__body")

    expect(page.get_by_role("list", name="Runs")).to_contain_text("begun")
    expect(page.locator("figure")).to_have_attribute("data-live", "true")
    wait_until(page, lambda: page.evaluate(f"{PLOTTED}.length === 2"))
    expect(page.locator(".widget__body")).to_have_attribute("hx-trigger", "every 10s")


def test_a_run_that_was_preempted_goes_on_on_every_open_page(visit, ada, run):
    write_series(run, "train/loss", [1.0, 0.5])
    ended = timezone.now() - timedelta(hours=3)
    Run.objects.filter(id=run.id).update(state=State.PREEMPTED, ended_at=ended)
    page = visit(f"/runs/{run.id}/charts", ada)
    expect(page.locator(DRAWN)).to_be_visible()
    header = page.locator("#run-header")
    expect(header).to_have_attribute("hx-trigger", "every 60s")

    Run.objects.filter(id=run.id).update(state=State.RUNNING, ended_at=None)
    write_series(run, "train/loss", [0.25], steps=[2])
    look_again(page, "#run-header")

    expect(header).to_contain_text("running")
    expect(header).to_have_attribute("hx-trigger", "every 5s")
    expect(page.locator(".charts__grid .chart")).to_have_attribute("data-live", "true")
    last = f"Array.from({PLOTTED}[0].y).includes(0.25)"
    wait_until(page, lambda: page.evaluate(last))
    expect(page.get_by_text("Live updates")).to_be_visible()


def test_what_ended_is_not_asked_for(visit, ada, project):
    ended = make_run(project, "ended", "finished")
    write_series(ended, CPU, [1.0])

    for tab in ("hardware", "logs", "files", "attributes"):
        page = visit(f"/runs/{ended.id}/{tab}", ada)
        assert page.locator('main [hx-trigger^="every"]').count() == 0, tab


def test_a_hidden_page_asks_for_nothing_until_it_is_seen_again(visit, ada, run):
    page = visit(f"/runs/{run.id}/hardware", ada)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    show = """(is) => {
      Object.defineProperty(document, "hidden", { value: is, configurable: true })
      document.dispatchEvent(new Event("visibilitychange"))
    }"""
    page.evaluate(show, True)
    asked.clear()

    look_again(page, "#run-hardware")
    page.wait_for_timeout(300)
    assert asked == []

    write_series(run, CPU, [1.0, 3.0])
    page.evaluate(show, False)
    expect(page.locator(DRAWN)).to_be_visible()


class TestComparisons:
    @pytest.fixture
    def address(self, project, run):
        other = make_run(project, "other", "finished")
        write_values(run, {"params/lr": 0.1, "params/deep/depth": 3})
        write_values(other, {"params/lr": 0.2, "params/deep/depth": 4})
        return f"{RUNS}compare?runs={other.id},{run.id}"

    def test_the_table_follows_and_stays_as_it_was_opened(
        self, visit, ada, run, address
    ):
        page = visit(f"{address}&tab=table", ada)
        table = page.locator(".compare-table")
        expect(table).to_contain_text("depth")
        table.get_by_role("button", name="deep").click()
        page.evaluate("document.querySelector('.compare-table tbody').isTheSame = true")

        write_values(run, {"params/lr": 0.375, "params/batch": 64})

        expect(table.get_by_role("row", name="lr")).to_contain_text("0.375")
        expect(table.get_by_role("row", name="batch")).to_be_visible()
        expect(table.get_by_role("rowheader", name="depth")).to_be_hidden()
        assert page.evaluate("document.querySelector('.compare-table tbody').isTheSame")

    def test_findings_follow(self, visit, ada, run, address):
        page = visit(f"{address}&tab=findings", ada)
        asked = page.locator("#compare-findings")
        expect(asked).to_have_attribute("hx-trigger", "every 10s")
        bar = asked.locator(".compare-bar")
        expect(bar).to_contain_text("baseline")

        diagnose_run(run.id)
        look_again(page, "#compare-findings")
        expect(bar).not_to_contain_text("baseline")

    def test_parallel_axes_follow_and_keep_what_was_chosen(
        self, visit, ada, run, address
    ):
        dimensions = "&dimension=params/lr&dimension=params/deep/depth"
        page = visit(f"{address}&tab=parallel{dimensions}", ada)
        axes = page.locator(".parallel__axis")
        expect(axes.nth(0)).to_have_attribute("data-path", "params/lr")
        axes.nth(0).press("ArrowRight")
        axes.nth(1).press("ArrowUp")
        chosen = axes.nth(1).get_attribute("aria-label")
        page.locator(".compare-values > summary").click()

        write_values(run, {"params/lr": 0.375})
        look_again(page, "#compare-values")

        expect(page.locator("#compare-values")).to_contain_text("0.375")
        expect(axes.nth(1)).to_have_attribute("data-path", "params/lr")
        expect(axes.nth(1)).to_contain_text("0.375")
        expect(axes.nth(1)).to_have_attribute("aria-label", chosen)

    def test_values_below_a_chart_follow(self, visit, ada, run, address):
        page = visit(f"{address}&tab=scatter&x=params/lr&y=params/deep/depth", ada)
        page.locator(".compare-values > summary").click()

        write_values(run, {"params/lr": 0.375})
        look_again(page, "#compare-values")

        expect(page.locator("#compare-values")).to_contain_text("0.375")
        expect(page.locator(".compare-values")).to_have_attribute("open", "")

    def test_what_does_not_follow_says_so(self, visit, ada, run, address):
        page = visit(f"{address}&tab=source", ada)

        expect(page.locator(".as-of")).to_contain_text("does not update automatically")
        assert violations(page) == []
        ended = timezone.now() - timedelta(days=2)
        Run.objects.filter(id=run.id).update(state=State.FINISHED, ended_at=ended)
        page.locator(".as-of a").click()
        expect(page.locator("#compare-states")).to_be_attached()
        expect(page.locator(".as-of")).to_have_count(0)
