"""Members are invited, changed and removed with commands only."""

from __future__ import annotations

import io
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tests.builders import make_member, make_project, make_run
from tracker.actions.people.joining import join_as_new
from tracker.models import AuditEntry, Member, ProjectMember, Role, State, User

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NEW = {"name": "Bob", "password": "long enough and rare"}


def run(*arguments):
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_three_people_are_invited_by_commands(member):
    make_project(member)
    for name, *arguments in (
        ("bob", "--link", "--role", "member"),
        ("carl", "carl@example.com", "--role", "admin", "--expires-days", "1"),
        ("dora", "--link", "--project", "vision", "--role", "viewer", "--uses", "0"),
    ):
        secret = re.search(r"/join/(smi_[\w-]+)\n$", run("invite", *arguments))[1]
        join_as_new(secret, email=f"{name}@example.com", **NEW)

    listed = [line.split("\t") for line in run("member", "list").splitlines()]
    assert {(line[0], line[3], line[5]) for line in listed} == {
        ("ada", "owner", ""),
        ("bob", "member", ""),
        ("carl", "admin", ""),
        ("dora", "guest", "vision:viewer"),
    }


def test_an_account_is_made_with_a_password_from_standard_input(member, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("long enough and rare\n"))

    run(
        "user",
        "create",
        "bob@example.com",
        "--name",
        "Bob",
        "--role",
        "viewer",
        "--password-stdin",
    )

    bob = Member.objects.get(user__email="bob@example.com")
    assert bob.role == Role.VIEWER
    assert bob.user.check_password("long enough and rare")
    assert "bob\tbob@example.com\tBob\tperson\tactive" in run("user", "list")
    added = AuditEntry.objects.get(action="member.added")
    assert added.actor == "command on the server"


def test_roles_change_and_members_leave_by_command(member):
    bob = make_member("bob", Role.MEMBER, workspace=member.workspace)
    project = make_project(member)
    project.owner = bob.user
    project.save()

    run("member", "role", "bob", "admin")
    assert Member.objects.get(id=bob.id).role == Role.ADMIN
    run("member", "deactivate", "bob")
    run("member", "reactivate", "bob")
    run("member", "offboard", "bob", "--transfer-to", "ada")
    assert not User.objects.get(username="bob").is_active
    project.refresh_from_db()
    assert project.owner == member.user
    run("member", "remove", "bob")
    assert not Member.objects.filter(id=bob.id).exists()


def test_a_deactivated_account_is_signed_out_and_the_last_owner_is_not(member):
    bob = make_member("bob", Role.MEMBER, workspace=member.workspace)
    browser = Client()
    browser.force_login(bob.user)
    browser.get("/")

    run("user", "deactivate", "bob")
    assert browser.get("/")["Location"].startswith("/sign-in")
    run("user", "reactivate", "bob")
    assert User.objects.get(username="bob").is_active
    with pytest.raises(CommandError, match="last owner"):
        run("user", "deactivate", "ada")


def test_a_password_link_sets_a_password(member):
    make_member("bob", Role.MEMBER, workspace=member.workspace)

    link = run("user", "password-link", "bob").strip()

    assert Client().get("/" + link.split("/", 3)[3]).status_code in (200, 302)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("invite",), "--link"),
        (("invite", "a@example.com", "--link"), "--link"),
        (("invite", "--link", "--role", "king"), "one of owner"),
        (("invite", "--link", "--project", "none"), "This project does not exist"),
        (("member", "role", "nobody", "viewer"), "This member does not exist"),
        (("user", "deactivate", "nobody"), "This account does not exist"),
        (("member", "list", "--workspace", "none"), "This workspace does not exist"),
    ],
)
def test_a_command_that_cannot_be_done_says_why(member, arguments, says):
    with pytest.raises(CommandError, match=says):
        run(*arguments)


def test_with_several_workspaces_one_must_be_named(member, stranger):
    with pytest.raises(CommandError, match="ada-workspace, mallory-workspace"):
        run("member", "list")
    assert run("member", "list", "--workspace", "mallory-workspace").startswith("mall")
    assert ProjectMember.objects.count() == 0


def test_a_service_account_gets_a_key_and_loses_it(member, client):
    make_project(member)

    username = run("service-account", "create", "CI", "--project", "vision").strip()
    key = run("key", "create", username, "nightly", "--scope", "read").strip()

    def status():
        headers = {"authorization": f"Bearer {key}"}
        return client.get("/api/v1/projects", headers=headers).status_code

    assert status() == 200
    assert (
        run("service-account", "list") == f"{username}\tCI\tmember\tvision\tkeys: 1\n"
    )
    key_id, owner, name, prefix = run("key", "list").split("\t")[:4]
    assert (owner, name, prefix) == (username, "nightly", key[:8])
    run("key", "revoke", key_id)
    assert status() == 401
    assert run("key", "list") == ""
    run("service-account", "delete", username)
    assert run("service-account", "list") == ""
    noted = AuditEntry.objects.values_list("actor", flat=True).distinct()
    assert list(noted) == ["command on the server"]


def test_a_project_is_made_archived_and_deleted_by_command(member, monkeypatch):
    assert run("project", "create", "Speech", "--closed") == "speech\n"
    run("project", "archive", "speech")
    assert run("project", "list") == "speech\tSpeech\tarchived\tchosen members\n"
    run("project", "restore", "speech")
    monkeypatch.setattr("builtins.input", lambda _: "other")
    with pytest.raises(CommandError, match="nothing was deleted"):
        run("project", "delete", "speech")
    run("project", "delete", "speech", "--yes")
    assert run("project", "list") == ""


def test_a_run_is_moved_by_command(member):
    project, target = make_project(member), make_project(member, "speech")
    ended = make_run(project, "ended", State.FINISHED)
    make_run(target, "ended", State.FINISHED)

    with pytest.raises(CommandError, match="taken"):
        run("project", "move-run", "speech", str(ended.id))
    run("project", "move-run", "speech", str(ended.id), "--rename")

    ended.refresh_from_db()
    assert (ended.project, ended.name) == (target, "ended (2)")
