"""API keys and service accounts over the API."""

from __future__ import annotations

import pytest

from tests.builders import make_member, make_project
from tests.tracker.api.v1.people.test_members import send
from tracker.models import AuditEntry, Role, Token

pytestmark = [pytest.mark.django_db, pytest.mark.database]

WORKSPACE = "/api/v1/workspaces/ada-workspace"
KEYS = f"{WORKSPACE}/keys"
ACCOUNTS = f"{WORKSPACE}/service-accounts"


@pytest.fixture
def manager(client_with, member, project):
    return client_with(member, "manage")


@pytest.fixture
def bob(member):
    return make_member("bob", Role.MEMBER, workspace=member.workspace)


def actions():
    return list(AuditEntry.objects.order_by("id").values_list("action", flat=True))


def test_a_key_is_made_listed_used_and_revoked(manager, client):
    made = send(manager, "post", KEYS, name="ci", scope="read", expires_days=30).json()
    with_key = {"authorization": f"Bearer {made['key']}"}

    assert client.get("/api/v1/projects", headers=with_key).status_code == 200
    [listed] = [
        each
        for each in manager.get(KEYS).json()["keys"]
        if each["prefix"] == made["key"][:8] and each["name"] == "ci"
    ]
    assert (listed["id"], listed["owner"], listed["scope"]) == (
        made["id"],
        "ada",
        "read",
    )
    assert made["key"] not in manager.get(KEYS).content.decode()
    assert manager.delete(f"{KEYS}/{made['id']}").json()["is_revoked"]
    assert client.get("/api/v1/projects", headers=with_key).status_code == 401
    assert actions() == ["key.created", "key.revoked"]


def test_members_see_and_revoke_only_their_own_keys(client_with, manager, bob):
    of_bob = client_with(bob, "manage")
    [other] = [
        each for each in manager.get(KEYS).json()["keys"] if each["owner"] == "ada"
    ]

    assert {each["owner"] for each in of_bob.get(KEYS).json()["keys"]} == {"bob"}
    assert of_bob.delete(f"{KEYS}/{other['id']}").status_code == 404
    made = send(of_bob, "post", KEYS, name="mine").json()
    assert of_bob.delete(f"{KEYS}/{made['id']}").status_code == 200


@pytest.mark.parametrize("scope", ["read", "log"])
def test_weaker_keys_make_and_revoke_no_keys(client_with, member, scope):
    weak = client_with(member, scope)
    key = Token.objects.get()

    assert send(weak, "post", KEYS, name="more").status_code == 403
    assert weak.delete(f"{KEYS}/{key.id}").status_code in (403, 404)
    assert Token.objects.filter(revoked_at=None).count() == 1


def test_a_key_bound_to_projects_makes_no_keys(manager, project):
    key = Token.objects.get()
    key.is_limited = True
    key.save()
    key.projects.add(project)

    assert send(manager, "post", KEYS, name="more").status_code == 403
    assert manager.delete(f"{KEYS}/{key.id}").status_code == 403


def test_keys_reach_no_other_workspace_of_their_owner(manager, member, stranger):
    make_member_of = stranger.workspace
    member.user.memberships.create(workspace=make_member_of, role=Role.OWNER)

    address = "/api/v1/workspaces/mallory-workspace/keys"
    assert manager.get(address).status_code == 404
    assert send(manager, "post", address, name="more").status_code == 404


def test_a_service_account_gets_a_key_and_is_deleted(manager, client, member):
    make_project(member, "speech")
    body = {"name": "CI", "role": "viewer", "projects": ["vision"]}
    account = send(manager, "post", ACCOUNTS, **body).json()
    key = {"name": "ci", "scope": "read", "service_account": account["id"]}
    secret = send(manager, "post", KEYS, **key).json()["key"]
    with_key = {"authorization": f"Bearer {secret}"}

    seen = client.get("/api/v1/projects", headers=with_key).json()["projects"]
    assert [each["slug"] for each in seen] == ["vision"]
    [listed] = manager.get(ACCOUNTS).json()["service_accounts"]
    assert listed == {
        "id": account["id"],
        "username": account["username"],
        "name": "CI",
        "role": "viewer",
        "projects": ["vision"],
        "key_count": 1,
    }
    assert manager.delete(f"{ACCOUNTS}/{account['id']}").json()["is_deleted"]
    assert client.get("/api/v1/me", headers=with_key).status_code == 401
    assert manager.get(ACCOUNTS).json() == {"service_accounts": []}
    assert actions() == [
        "service-account.created",
        "key.created",
        "service-account.deleted",
    ]


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        (KEYS, {}),
        (KEYS, {"name": ""}),
        (KEYS, {"name": "a", "scope": "all"}),
        (KEYS, {"name": "a", "expires_days": 0}),
        (KEYS, {"name": "a", "expires_days": 10**12}),
        (KEYS, {"name": "a", "projects": []}),
        (KEYS, {"name": "a", "projects": ["none"]}),
        (ACCOUNTS, {"name": ""}),
        (ACCOUNTS, {"name": "a", "role": "owner"}),
        (ACCOUNTS, {"name": "a", "projects": []}),
    ],
)
def test_an_invalid_key_request_is_refused(manager, address, wanted):
    before = Token.objects.count()

    assert send(manager, "post", address, **wanted).status_code == 400
    assert Token.objects.count() == before
