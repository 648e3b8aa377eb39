"""Members, invitations and project members over the API."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from tests.builders import make_member
from tracker.actions.people.joining import join_as_new
from tracker.api.urls import v1
from tracker.models import Invitation, Member, Role, Token

pytestmark = [pytest.mark.django_db, pytest.mark.database]

WORKSPACE = "/api/v1/workspaces/ada-workspace"
PROJECT = "/api/v1/projects/ada-workspace/vision"
GETS = {
    "/api/v1/workspaces/{workspace}/members": f"{WORKSPACE}/members",
    "/api/v1/workspaces/{workspace}/invitations": f"{WORKSPACE}/invitations",
    "/api/v1/projects/{workspace}/{project}/members": f"{PROJECT}/members",
}


@pytest.fixture
def manager(client_with, member, project):
    return client_with(member, "manage")


@pytest.fixture
def bob(member):
    return make_member("bob", Role.MEMBER, workspace=member.workspace)


def send(client, method, address, **body):
    call = getattr(client, method)
    return call(address, json.dumps(body), content_type="application/json")


def test_three_people_are_let_in_by_the_api(manager):
    for name, wanted in {
        "bob": {"role": "member"},
        "carl": {"role": "admin", "email": "carl@example.com", "expires_days": 1},
        "dora": {"role": "viewer", "project": "vision", "max_uses": None},
    }.items():
        made = send(manager, "post", f"{WORKSPACE}/invitations", **wanted).json()
        join_as_new(
            made["url"].rpartition("/")[2],
            email=f"{name}@example.com",
            name=name.title(),
            password="long enough and rare",
        )

    members = manager.get(f"{WORKSPACE}/members").json()["members"]
    assert {(each["username"], each["role"]) for each in members} == {
        ("ada", "owner"),
        ("bob", "member"),
        ("carl", "admin"),
        ("dora", "guest"),
    }


def test_every_answer_is_as_described(manager, bob):
    send(manager, "post", f"{WORKSPACE}/invitations")
    send(manager, "post", f"{PROJECT}/members", who="bob", role="admin")
    description = json.loads(json.dumps(v1.get_openapi_schema(), default=str))
    for path, address in GETS.items():
        answer = manager.get(address).json()
        content = description["paths"][path]["get"]["responses"]["200"]["content"]
        schema = content["application/json"]["schema"]
        whole = schema | {"components": description["components"]}
        assert list(Draft202012Validator(whole).iter_errors(answer)) == []


def test_roles_change_and_members_leave(manager, member, bob):
    address = f"{WORKSPACE}/members/{bob.id}"

    assert send(manager, "patch", address, role="viewer").json()["role"] == "viewer"
    assert not send(manager, "patch", address, is_active=False).json()["is_active"]
    assert send(manager, "patch", address, is_active=True).json()["is_active"]
    left = send(manager, "post", f"{address}/offboard", transfer_to=member.id)
    assert left.json()["is_active"] is False
    assert send(manager, "post", f"{address}/remove").json()["is_removed"]
    assert not Member.objects.filter(id=bob.id).exists()


def test_an_invitation_is_renewed_and_revoked(manager):
    first = send(manager, "post", f"{WORKSPACE}/invitations").json()["url"]
    address = f"{WORKSPACE}/invitations/{Invitation.objects.get().id}"

    assert send(manager, "post", f"{address}/renew").json()["url"] != first
    assert manager.delete(address).json()["is_revoked"]
    assert manager.get(f"{WORKSPACE}/invitations").json() == {"invitations": []}


def test_a_project_is_closed_to_all_but_chosen_members(manager, bob):
    closed = send(manager, "put", f"{PROJECT}/access", is_open=False).json()
    assert closed["is_open"] is False
    assert [each["username"] for each in closed["members"]] == ["ada"]

    added = send(manager, "post", f"{PROJECT}/members", who="bob", role="viewer").json()
    given = [each["username"] for each in added["members"] if each["is_given"]]
    assert given == ["bob"]
    left = manager.delete(f"{PROJECT}/members/{bob.id}").json()
    assert [each["username"] for each in left["members"]] == ["ada"]


@pytest.mark.parametrize(
    ("role", "scope", "status"),
    [
        (Role.OWNER, "manage", 200),
        (Role.ADMIN, "manage", 200),
        (Role.OWNER, "read", 403),
        (Role.OWNER, "log", 403),
        (Role.MEMBER, "manage", 403),
        (Role.VIEWER, "manage", 403),
        (Role.GUEST, "manage", 403),
    ],
)
def test_only_keys_of_managers_with_scope_manage_reach_members(  # noqa: PLR0917 - fixtures
    client_with, member, project, bob, role, scope, status
):
    caller = make_member("carl", role, workspace=member.workspace)
    client = client_with(caller, scope)
    address = f"{WORKSPACE}/members/{bob.id}"

    assert client.get(f"{WORKSPACE}/members").status_code in (status, 404)
    assert client.get(f"{WORKSPACE}/invitations").status_code in (status, 404)
    changed = send(client, "patch", address, role="viewer").status_code
    assert changed in (status, 404)
    made = send(client, "post", f"{WORKSPACE}/invitations").status_code
    assert made in (status, 404)
    if status != 200:
        assert Member.objects.get(id=bob.id).role == Role.MEMBER
        assert not Invitation.objects.exists()


def test_a_key_bound_to_a_project_manages_no_members(manager, project):
    key = Token.objects.get()
    key.is_limited = True
    key.save()
    key.projects.add(project)

    assert manager.get(f"{WORKSPACE}/members").status_code == 403
    assert send(manager, "post", f"{WORKSPACE}/invitations").status_code == 403
    assert manager.get(f"{PROJECT}/members").status_code == 200


def test_a_session_reads_and_changes_nothing(client_of, member, bob, project):
    browser = client_of(member)

    assert browser.get(f"{WORKSPACE}/members").status_code == 200
    assert send(browser, "post", f"{WORKSPACE}/invitations").status_code == 401


def test_members_of_another_workspace_are_out_of_reach(client_with, stranger, bob):
    other = client_with(stranger, "manage")

    assert other.get(f"{WORKSPACE}/members").status_code == 404
    address = f"/api/v1/workspaces/mallory-workspace/members/{bob.id}"
    assert send(other, "patch", address, role="viewer").status_code == 404


def test_an_admin_makes_no_owner_and_the_last_owner_stays(
    client_with, manager, member, bob
):
    admin = client_with(
        make_member("carl", Role.ADMIN, workspace=member.workspace), "manage"
    )
    owner, other = (f"{WORKSPACE}/members/{each.id}" for each in (member, bob))

    assert send(admin, "patch", other, role="owner").status_code == 403
    assert send(admin, "patch", owner, is_active=False).status_code == 403
    assert (
        send(admin, "post", f"{WORKSPACE}/invitations", role="owner").status_code == 403
    )
    refused = send(manager, "patch", owner, role="viewer", is_active=False)
    assert refused.status_code == 400
    assert "last owner" in refused.json()["error"]["message"]
    assert Member.objects.get(id=member.id).role == Role.OWNER
