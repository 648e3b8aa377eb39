"""Moving runs away as a person does it, by mouse and by keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run
from tests.web.browser.accessibility import violations
from tracker.actions.trash import move_to_trash
from tracker.models import Run, State

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
def trash(project):
    for name in ("failed one", "finished one", LONG):
        state = State.FAILED if name == "failed one" else State.FINISHED
        move_to_trash(make_run(project, name, state))
    return "/w/ada-workspace/vision/trash"


def test_a_run_is_moved_to_the_trash_and_back_by_keyboard(visit, ada, run):
    page = visit(f"/runs/{run.id}/", ada)

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
    page.get_by_role("button", name="Keep it").press("Enter")
    expect(row).to_be_visible()
    assert not Run.objects.exclude(purging_at=None).exists()

    row.get_by_role("button", name="Delete failed one").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(page.get_by_role("status")).to_contain_text("1 run is being deleted")
    expect(row).to_have_count(0)


def test_a_run_is_pinned_and_then_has_no_way_to_the_trash(visit, ada, run):
    page = visit(f"/runs/{run.id}/", ada)

    page.get_by_role("button", name="Pin", exact=True).click()

    expect(page.get_by_text("pinned", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Move to trash")).to_have_count(0)
    page.get_by_role("button", name="Unpin").click()
    expect(page.get_by_role("button", name="Move to trash")).to_be_visible()


def test_retention_is_set_and_said_back(visit, ada, project, run):
    page = visit("/w/ada-workspace/vision/settings", ada)

    page.get_by_label("Days of silence").fill("90")
    kept = page.get_by_role("region", name="How long runs are kept")
    kept.get_by_role("button", name="Save").click()

    expect(page.locator(".toast")).to_contain_text("Saved.")
    expect(page.get_by_label("Days of silence")).to_have_value("90")


def test_an_empty_trash_holds_for_everybody(visit, ada, project):
    page = visit("/w/ada-workspace/vision/trash", ada)

    expect(page.get_by_role("heading", name="The trash is empty")).to_be_visible()
    assert violations(page) == []
