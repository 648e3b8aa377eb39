"""Moving runs away as a person does it, by mouse and by keyboard."""

from __future__ import annotations

import re
import time
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from tests.builders import make_project, make_run
from tests.slow.browser.accessibility import violations
from tracker.actions.dashboards import create_dashboard
from tracker.actions.deletions import delete_made
from tracker.actions.runs.trash import move_to_trash
from tracker.boards.board import Board
from tracker.models import Dashboard, Run, State
from tracker.queries.projects.trash import TRASH_DAYS
from tracker.tasks import clear_away

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG = "a-name-that-goes-on-and-on-" * 8


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def run(project):
    make_run(project, "another", State.FINISHED)
    return make_run(project, "baseline", State.FINISHED)


@pytest.fixture
def board(project, ada):
    return create_dashboard(project, "nightly", Board(), user_id=ada.user_id)


@pytest.fixture
def trash(project):
    for name in ("failed one", "finished one", LONG):
        state = State.FAILED if name == "failed one" else State.FINISHED
        move_to_trash(make_run(project, name, state))
    return "/w/ada-workspace/vision/trash"


def more(page):
    """Return the button of the menu in a run's header."""
    return page.locator("#run-actions .drop > summary")


def test_a_run_is_moved_to_the_trash_and_back_by_keyboard(visit, ada, run):
    page = visit(f"/runs/{run.id}/", ada)

    more(page).press("Enter")
    page.get_by_role("button", name="Move to trash").press("Enter")

    expect(page).to_have_url(re.compile("/vision/$"))
    expect(page.locator(".toast")).to_contain_text("baseline")
    grid = page.get_by_role("grid")
    expect(grid).to_contain_text("another")
    expect(grid).not_to_contain_text("baseline")
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.get_by_role("heading", name="baseline")).to_be_visible()


def test_a_run_is_deleted_only_after_a_question(visit, ada, trash):
    page = visit(trash, ada)
    row = page.get_by_role("row").filter(has_text="failed one")

    row.get_by_role("button", name="Delete failed one").click()
    page.get_by_role("button", name="Cancel").press("Enter")
    expect(row).to_be_visible()
    assert not Run.objects.exclude(purging_at=None).exists()

    row.get_by_role("button", name="Delete failed one").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(page.get_by_role("status")).to_contain_text("Deleting 1 run")
    expect(row).to_have_count(0)


def test_a_run_is_pinned_and_then_has_no_way_to_the_trash(visit, ada, run):
    page = visit(f"/runs/{run.id}/", ada)

    more(page).click()
    page.get_by_role("button", name="Pin", exact=True).click()

    expect(page.get_by_text("pinned", exact=True)).to_be_visible()
    more(page).click()
    expect(page.get_by_role("button", name="Move to trash")).to_have_count(0)
    page.get_by_role("button", name="Unpin").click()
    more(page).click()
    expect(page.get_by_role("button", name="Move to trash")).to_be_visible()


def test_retention_is_set_and_said_back(visit, ada, project, run):
    page = visit("/w/ada-workspace/vision/settings", ada)

    page.get_by_label("Move runs to trash after").fill("90")
    kept = page.get_by_role("region", name="Run retention")
    kept.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator(".toast")).to_contain_text("Saved.")
    expect(page.get_by_label("Move runs to trash after")).to_have_value("90")


def test_a_dashboard_is_deleted_and_comes_back_by_the_toast(visit, ada, board):
    page = visit(f"/dashboards/{board.id}/", ada)

    page.get_by_role("button", name="Move to trash").press("Enter")
    expect(page.locator(".toast")).to_contain_text("nightly")
    expect(page.get_by_role("heading", name="No dashboards yet")).to_be_visible()
    expect(page.get_by_role("main")).not_to_contain_text("nightly")
    page.get_by_role("button", name="Undo").press("Enter")

    expect(page.get_by_role("heading", name="nightly", exact=True)).to_be_visible()
    expect(page.locator(".toast")).to_contain_text("restored")


def test_a_dashboard_is_restored_from_the_trash_or_deleted_after_a_question(
    visit, ada, board, trash
):
    page = visit(f"/dashboards/{board.id}/", ada)
    page.get_by_role("button", name="Move to trash").click()
    page.get_by_role("link", name="Trash", exact=True).click()

    row = page.get_by_role("row").filter(has_text="nightly")
    expect(row).to_contain_text("dashboard")
    expect(row).to_contain_text("ada")
    assert violations(page) == []
    row.get_by_role("button", name="Restore nightly").click()
    expect(page.get_by_role("heading", name="nightly", exact=True)).to_be_visible()

    page.get_by_role("button", name="Move to trash").click()
    page.get_by_role("link", name="Trash", exact=True).click()
    row.get_by_role("button", name="Delete nightly").click()
    page.get_by_role("button", name="Cancel").press("Enter")
    expect(row).to_be_visible()
    row.get_by_role("button", name="Delete nightly").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_contain_text("permanently deleted")
    expect(row).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text="failed one")).to_be_visible()
    assert not Dashboard.with_deleted.exists()


def test_what_is_purged_is_gone_from_the_trash(visit, ada, board):
    deleted_at = timezone.now() - timedelta(days=TRASH_DAYS, minutes=1)
    delete_made(board, user_id=ada.user_id, now=deleted_at)
    page = visit("/w/ada-workspace/vision/trash", ada)
    expect(page.get_by_role("row").filter(has_text="nightly")).to_be_visible()

    clear_away()

    page = visit("/w/ada-workspace/vision/trash", ada)
    expect(page.get_by_role("heading", name="Trash is empty")).to_be_visible()


def slowly(route):
    time.sleep(1)
    route.continue_()


def test_a_click_before_what_asks_is_there_is_asked_about(visit, ada, board, page):
    delete_made(board, user_id=ada.user_id)
    page.route("**/components/confirm.js", slowly)
    page.add_init_script(
        """document.addEventListener("readystatechange", () => {
          const path = ".trash__made form[data-confirm] button"
          if (document.readyState === "interactive") document.querySelector(path).click()
        })"""
    )

    visit("/w/ada-workspace/vision/trash", ada)

    expect(page.get_by_role("dialog")).to_contain_text("Delete “nightly” permanently?")
    assert Dashboard.with_deleted.filter(id=board.id).exists()


def test_an_empty_trash_holds_for_everybody(visit, ada, project):
    page = visit("/w/ada-workspace/vision/trash", ada)

    expect(page.get_by_role("heading", name="Trash is empty")).to_be_visible()
    assert violations(page) == []
