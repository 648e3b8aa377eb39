"""The audit log of a workspace: page, CSV, API and retention."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

import pytest
from django.utils import timezone

from tests.builders import Process, actor_of, make_member, make_project, make_run
from tracker.actions.access import make_token
from tracker.actions.people.audit import Action, delete_old_entries, note
from tracker.actions.runs.trash import move_to_trash
from tracker.actor import Scope
from tracker.models import AuditEntry, Role, State
from web.pages.people.audit_texts import detail_texts

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def log(member):
    return f"/w/{member.workspace.slug}/audit"


def test_it_shows_who_did_what_to_what_and_from_where(member, client_of, log):
    note(
        Action.KEY_REVOKED,
        "node <3>",
        workspace=member.workspace,
        by=member.user,
        address="192.0.2.7",
    )

    page = client_of(member).get(log).content.decode()

    for text in ("ada", "API key revoked", "node &lt;3&gt;", "192.0.2.7"):
        assert text in page


def test_sign_ins_of_members_are_in_it_and_those_of_others_are_not(
    member, stranger, client_of, log
):
    note(Action.SIGNED_IN, "by Ada", by=member.user)
    note(Action.SIGNED_IN, "by Mallory", by=stranger.user)
    note(Action.KEY_CREATED, "of Mallory", workspace=stranger.workspace)

    page = client_of(member).get(log).content.decode()

    assert "by Ada" in page
    assert "Mallory" not in page


def test_it_is_filtered_by_user_action_and_time(member, client_of, log):
    bob = make_member("bob", Role.MEMBER, workspace=member.workspace)
    note(Action.KEY_CREATED, "first", workspace=member.workspace, by=member.user)
    note(Action.KEY_CREATED, "second", workspace=member.workspace, by=bob.user)
    note(Action.KEY_REVOKED, "third", workspace=member.workspace, by=bob.user)
    AuditEntry.objects.filter(target="second").update(at="2026-01-02T23:59:59Z")
    browser = client_of(member)

    def shown(query):
        entries = browser.get(f"{log}?{query}").context["entries"]
        return [entry.target for entry, *_ in entries]

    assert shown("") == ["third", "second", "first"]
    assert shown(f"user={bob.user_id}") == ["third", "second"]
    assert shown("action=key.created") == ["second", "first"]
    assert shown("since=2026-01-02&until=2026-01-02") == ["second"]
    assert browser.get(f"{log}?since=soon").status_code == HTTPStatus.BAD_REQUEST


def test_pages_and_the_api_follow_a_cursor(member, client_of, api, log):
    for number in range(101):
        note(Action.KEY_CREATED, f"key {number}", workspace=member.workspace)
    client = api(make_token(member, "script", Scope.MANAGE))
    address = f"/api/v1/workspaces/{member.workspace.slug}/audit"

    newest = client_of(member).get(log).context["before"]
    oldest = client_of(member).get(f"{log}?before={newest}").context["entries"]
    first = client.get(f"{address}?limit=60").json()
    second = client.get(f"{address}?limit=60&before={first['before']}").json()

    assert [entry.target for entry, *_ in oldest] == ["key 0"]
    both = [entry["target"] for entry in first["entries"] + second["entries"]]
    assert both == [f"key {number}" for number in reversed(range(101))]
    assert second["before"] is None


def test_the_csv_has_the_filtered_rows_and_is_noted_itself(member, client_of, log):
    note(Action.KEY_CREATED, "=evil()", workspace=member.workspace, by=member.user)

    response = client_of(member).get(f"{log}.csv?action=key.created")
    lines = b"".join(response).decode().splitlines()

    assert lines[0] == "time,user,action,target,address,details"
    assert "ada,key.created,'=evil()" in lines[1]
    assert AuditEntry.objects.latest("id").action == Action.EXPORTED


@pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER, Role.GUEST])
def test_only_owners_and_admins_read_it(member, client_of, api, log, role):
    bob = make_member("bob", role, workspace=member.workspace)
    address = f"/api/v1/workspaces/{member.workspace.slug}/audit"

    for path in (log, f"{log}.csv"):
        assert client_of(bob).get(path).status_code == HTTPStatus.FORBIDDEN
    refused = api(make_token(bob, "script", Scope.MANAGE)).get(address)
    assert refused.status_code == HTTPStatus.FORBIDDEN


def test_another_workspaces_log_looks_absent(stranger, client_of, log):
    assert client_of(stranger).get(log).status_code == HTTPStatus.NOT_FOUND


def test_old_entries_are_deleted_unless_it_is_kept_forever(member, settings):
    note(Action.KEY_CREATED, "old", workspace=member.workspace)
    later = timezone.now() + timedelta(days=366)

    settings.AUDIT_DAYS = 0
    delete_old_entries(later)
    assert AuditEntry.objects.exists()

    settings.AUDIT_DAYS = 365
    delete_old_entries(later)
    assert not AuditEntry.objects.exists()


def test_deletions_settings_exports_and_reopened_runs_are_noted(member, client_of):
    project, browser = make_project(member), client_of(member)
    run = make_run(project, "done", State.FINISHED)
    base = f"/w/{member.workspace.slug}/{project.slug}"

    Process(project, "done", actor=actor_of(member)).open()
    move_to_trash(run)
    browser.post(f"/runs/{run.id}/delete")
    browser.post(f"{base}/settings", {"retention_days": "30"})
    assert b"".join(browser.get(f"{base}/runs.csv"))

    entries = AuditEntry.objects.order_by("id").values_list("action", "actor")
    noted = [
        Action.RUN_REOPENED,
        Action.RUN_DELETED,
        Action.PROJECT_CHANGED,
        Action.EXPORTED,
    ]
    assert list(entries) == [(action.value, "ada") for action in noted]


def test_details_are_words_and_leave_out_identifiers():
    stored = {
        "is_open": False,
        "projects": ["a", "b"],
        "invited_by": 7,
        "max_uses": None,
    }

    assert detail_texts(stored) == [
        ("open to the workspace", "no"),
        ("projects", "a, b"),
    ]
