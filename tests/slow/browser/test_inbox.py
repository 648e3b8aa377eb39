"""Two people talk about a run: comments, mentions, the bell and the inbox."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.builders import make_member, make_project, make_run
from tests.slow.browser.accessibility import violations
from tracker.actions.metric_rules import RuleRequest, create_rule
from tracker.models import MetricRule, Role, Run, RunComment

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def grace(ada):
    return make_member("grace", Role.VIEWER, workspace=ada.workspace)


@pytest.fixture
def run(ada):
    made = make_run(make_project(ada), "baseline", "finished")
    Run.objects.filter(id=made.id).update(made_by=ada.user)
    return made


def test_a_mention_is_completed_and_reaches_the_inbox(visit, ada, grace, run):
    page = visit(f"/runs/{run.id}/comments", ada)
    field = page.get_by_label("Your comment").last
    field.press_sequentially("Look, @gr")
    expect(page.get_by_role("option", name="@grace")).to_be_visible()
    field.press("Enter")
    expect(field).to_have_value("Look, @grace ")
    field.press_sequentially("please")
    field.press("Control+Enter")
    expect(page.locator(".comment__text")).to_have_text("Look, @grace please")
    expect(field).to_have_value("")

    page = visit("/", grace)
    bell = page.locator("#bell")
    expect(bell).to_have_attribute("aria-label", "Inbox, 1 unread")
    bell.click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    assert violations(page) == []
    page.get_by_text("ada mentioned you on baseline").click()
    expect(page.locator(".comment__text")).to_have_text("Look, @grace please")
    expect(page.locator("#bell")).to_have_attribute("aria-label", "Inbox")
    assert violations(page) == []


def test_a_deleted_comment_can_be_brought_back(visit, ada, run):
    page = visit(f"/runs/{run.id}/comments", ada)
    page.get_by_label("Your comment").last.fill("Oops")
    page.get_by_role("button", name="Comment", exact=True).click()
    page.get_by_role("button", name="Delete").click()
    expect(page.locator(".comment")).to_have_count(0)

    page.get_by_role("button", name="Undo").click()

    expect(page.locator(".comment__text")).to_have_text("Oops")
    assert RunComment.objects.get().deleted_at is None


def test_an_example_fills_the_form_of_a_rule(visit, ada, run):
    project = run.project
    create_rule(project, RuleRequest("a", "not-finite"), user_id=ada.user_id)
    address = f"/w/{ada.workspace.slug}/{project.slug}/alerts"
    page = visit(address, ada)
    page.get_by_role("link", name="New rule").click()
    page.get_by_role("link", name="GPU is idle").click()
    assert violations(page) == []
    page.get_by_role("button", name="Create rule").click()

    expect(page.get_by_text("mean is below 20 over 15 min")).to_be_visible()
    assert violations(page) == []
    assert MetricRule.objects.count() == 2
