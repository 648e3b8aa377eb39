"""API keys: a user's own, and all of a workspace."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

import pytest
from django.conf import settings
from django.utils import timezone

from tests.builders import make_member, make_project
from tracker.actions.access import authenticate, make_token
from tracker.actor import Scope
from tracker.models import AuditEntry, Role, Token

pytestmark = [pytest.mark.django_db, pytest.mark.database]

FORM = {"name": "node", "scope": "log", "days": "30"}


@pytest.fixture
def form(member):
    return {**FORM, "workspace": member.workspace.slug}


def secret_in(response):
    return response.content.decode().split('id="secret">')[1].split("<")[0]


def test_a_new_key_is_shown_once_with_what_to_do_with_it(member, client_of, form):
    visitor = client_of(member)

    made = visitor.post("/account/keys", form).content.decode()
    later = visitor.get("/account/keys").content.decode()

    secret = made.split('id="secret">')[1].split("<")[0]
    assert authenticate(secret).scope == Scope.LOG
    assert f"export SEAMARK_TOKEN={secret}" in made
    assert f"SEAMARK_URL={settings.PUBLIC_URL}" in made
    assert f"pip install {settings.PUBLIC_URL}/sdk/seamark-" in made
    assert secret not in later
    assert "node" in later
    assert 'href="/sdk/"' in later


def test_a_key_expires_when_asked(member, client_of, form):
    client_of(member).post("/account/keys", form)

    left = Token.objects.get().expires_at - timezone.now()
    assert timedelta(days=29) < left <= timedelta(days=30)


def test_a_key_may_last(member, client_of, form):
    client_of(member).post("/account/keys", {**form, "days": ""})

    assert Token.objects.get().expires_at is None


def test_what_was_typed_of_a_key_stays_when_it_is_refused(member, client_of, form):
    typed = {**form, "name": "x" * 201, "scope": "manage", "days": ""}

    page = client_of(member).post("/account/keys", typed).content.decode()

    assert f'value="{"x" * 201}"' in page
    assert 'name="scope" value="manage" required checked' in page
    assert '<option value="" selected>' in page


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"name": "x" * 201},
        {"name": "a\0b"},
        {"scope": "everything"},
        {"days": "9999"},
    ],
    ids=lambda bad: next(iter(bad)),
)
def test_a_key_that_cannot_be_made_says_why(member, client_of, form, bad):
    response = client_of(member).post("/account/keys", {**form, **bad})

    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert b'role="alert"' in response.content
    assert not Token.objects.exists()


def test_nobody_makes_a_key_for_a_workspace_of_no_possible_name(
    member, client_of, form
):
    for address in ("/account/keys", "/account/keys/first"):
        refused = client_of(member).post(address, {**form, "workspace": "a\0b"})
        assert refused.status_code == 404


def test_nobody_makes_a_key_for_anothers_workspace(member, stranger, client_of, form):
    response = client_of(stranger).post("/account/keys", form)

    assert response.status_code == HTTPStatus.NOT_FOUND
    assert not Token.objects.exists()


def test_a_revoked_token_opens_nothing(member, client_of):
    secret = make_token(member, "node", Scope.MANAGE)

    response = client_of(member).post(f"/account/keys/{Token.objects.get().id}/revoke")

    assert response.status_code == HTTPStatus.FOUND
    assert authenticate(secret) is None
    assert client_of(member).get("/account/keys").context["keys"] == []


def test_nobody_sees_or_revokes_anothers_key(member, client_of):
    secret = make_token(member, "ada's node", Scope.MANAGE)
    colleague = client_of(make_member("bob", workspace=member.workspace))

    response = colleague.post(f"/account/keys/{Token.objects.get().id}/revoke")

    assert response.status_code == HTTPStatus.NOT_FOUND
    assert colleague.get("/account/keys").context["keys"] == []
    assert authenticate(secret) is not None


def test_the_list_costs_the_same_for_many_keys(
    member, client_of, django_assert_max_num_queries
):
    for number in range(30):
        make_token(member, f"node {number}", Scope.LOG)
    visitor = client_of(member)

    with django_assert_max_num_queries(9):
        visitor.get("/account/keys")


def test_the_old_address_leads_to_the_page(member, client_of):
    response = client_of(member).get("/settings/tokens")

    assert (response.status_code, response["Location"]) == (301, "/account/keys")


def test_a_key_of_chosen_projects_sees_no_other(member, client_of, form, api):
    for name in ("vision", "speech"):
        make_project(member, name)
    bound = {**form, "scope": "read", "access": "projects", "projects": ["speech"]}

    secret = secret_in(client_of(member).post("/account/keys", bound))

    seen = api(secret).get("/api/v1/projects").json()["projects"]
    assert [project["slug"] for project in seen] == ["speech"]


@pytest.mark.parametrize(
    "projects", [[], ["elsewhere"], ["a\0b"]], ids=["none", "anothers", "impossible"]
)
def test_a_key_is_bound_to_projects_that_its_owner_sees(
    member, stranger, client_of, form, projects
):
    make_project(stranger, "elsewhere")
    bound = {**form, "access": "projects", "projects": projects}

    response = client_of(member).post("/account/keys", bound)

    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert not Token.objects.filter(member=member).exists()


def test_a_viewer_makes_keys_that_read_only(member, client_of, form):
    viewer = client_of(make_member("eve", Role.VIEWER, workspace=member.workspace))

    offered = viewer.get("/account/keys").content.decode()
    refused = viewer.post("/account/keys", form)
    made = viewer.post("/account/keys", {**form, "scope": "read"})

    assert 'value="log"' not in offered
    assert refused.status_code == HTTPStatus.BAD_REQUEST
    assert authenticate(secret_in(made)).scope == Scope.READ


def test_an_admin_sees_and_revokes_the_keys_of_all_members(member, client_of):
    bob = make_member("bob", Role.MEMBER, workspace=member.workspace)
    secret = make_token(bob, "bob's node", Scope.LOG)
    admin = client_of(make_member("grace", Role.ADMIN, workspace=member.workspace))
    address = f"/w/{member.workspace.slug}/keys"

    listed = admin.get(address).content.decode()
    admin.post(f"{address}/{Token.objects.get().id}/revoke")

    assert "bob&#x27;s node" in listed
    assert authenticate(secret) is None
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor) == ("key.revoked", "grace")
    assert entry.details["owner"] == "bob"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER, Role.GUEST])
def test_other_roles_do_not_see_the_keys_of_a_workspace(member, client_of, role):
    secret = make_token(member, "node", Scope.LOG)
    other = client_of(make_member("bob", role, workspace=member.workspace))
    address = f"/w/{member.workspace.slug}/keys"
    revoke = f"{address}/{Token.objects.get().id}/revoke"

    assert other.get(address).status_code == HTTPStatus.FORBIDDEN
    assert other.post(revoke).status_code == HTTPStatus.FORBIDDEN
    assert authenticate(secret) is not None


def test_the_keys_of_another_workspace_look_absent(member, stranger, client_of):
    make_token(member, "node", Scope.LOG)
    outsider = client_of(stranger)
    theirs, own = (f"/w/{each.workspace.slug}/keys" for each in (member, stranger))
    revoke = f"{Token.objects.get().id}/revoke"

    assert outsider.get(theirs).status_code == HTTPStatus.NOT_FOUND
    for address in (theirs, own):
        refused = outsider.post(f"{address}/{revoke}")
        assert refused.status_code == HTTPStatus.NOT_FOUND
    assert Token.objects.get().revoked_at is None


def test_who_created_a_key_is_in_the_audit_log(member, client_of, form):
    client_of(member).post("/account/keys", form)

    entry = AuditEntry.objects.get()

    assert (entry.action, entry.target, entry.actor) == ("key.created", "node", "ada")
    assert entry.workspace == member.workspace
    assert entry.address == "127.0.0.1"
