"""A workspace can require a second factor of its members."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.test import Client

from tests.builders import make_project
from tests.web.pages.people.test_second_factors import PASSWORD, add_app
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.models import AuditEntry, Workspace
from tracker.second_factor import BY_PROXY

pytestmark = [pytest.mark.django_db, pytest.mark.database]

JSON = {"accept": "application/json"}
SETTINGS = "/w/ada-workspace/settings"


@pytest.fixture
def required(member):
    """Ada's workspace, which requires a second factor; she has a password alone."""
    member.user.email = "ada@example.org"
    member.user.set_password(PASSWORD)
    member.user.save()
    Workspace.objects.update(requires_second_factor=True)
    return member


@pytest.fixture
def browser(required):
    visitor = Client()
    visitor.post("/sign-in", {"login": "ada", "password": PASSWORD})
    return visitor


def test_a_member_without_a_factor_reaches_only_security(browser, required):
    make_project(required, "vision")

    for address in (
        "/",
        "/w/ada-workspace/vision/",
        "/account/keys",
        "/account/",
        SETTINGS,
    ):
        assert browser.get(address)["Location"] == "/account/security"
    assert (
        browser.post("/account/keys", {"name": "a"})["Location"] == "/account/security"
    )
    assert browser.get("/", headers=JSON).status_code == 403
    assert browser.get("/inbox/bell", headers={"hx-request": "true"}).status_code == 403
    assert browser.get("/api/v1/projects").status_code == 403
    page = browser.get("/account/security")
    assert page.status_code == 200
    assert "requires a second factor" in page.content.decode()


def test_a_factor_opens_the_pages_and_its_removal_closes_them(browser, required):
    add_app(browser)
    assert browser.get("/").status_code == 200
    assert browser.get("/api/v1/projects").status_code == 200

    required.user.authenticator_set.all().delete()

    assert browser.get("/")["Location"] == "/account/security"


def test_api_keys_and_other_workspaces_are_not_affected(required, stranger, client_of):
    Workspace.objects.filter(slug="mallory-workspace").update(
        requires_second_factor=False
    )
    key = make_token(required, "job", Scope.READ)

    answer = Client().get(
        "/api/v1/projects", headers={"authorization": f"Bearer {key}"}
    )

    assert answer.status_code == 200
    assert client_of(stranger).get("/").status_code == 200


def test_a_former_member_is_not_asked(required, stranger, client_of):
    Workspace.objects.exclude(slug="ada-workspace").update(requires_second_factor=False)
    former = stranger.user.memberships.create(
        workspace=required.workspace, role="viewer", is_active=False
    )

    assert client_of(former).get("/").status_code == 200


def test_a_sign_in_by_the_proxy_counts_only_where_the_setting_says_so(
    browser, settings
):
    session = browser.session
    session[BY_PROXY] = True
    session.save()

    assert browser.get("/")["Location"] == "/account/security"
    settings.SSO_IS_SECOND_FACTOR = True
    assert browser.get("/").status_code == 200


def test_a_person_signed_in_by_the_proxy_confirms_the_factor(browser, required):
    add_app(browser)
    by_proxy = Client()
    by_proxy.force_login(required.user)
    session = by_proxy.session
    session[BY_PROXY] = True
    session.save()

    asked = by_proxy.get("/account/keys")["Location"]

    assert asked.endswith("?next=%2Faccount%2Fkeys")
    assert by_proxy.get(asked).status_code == 200
    assert by_proxy.get("/api/v1/projects").status_code == 403


def test_owners_require_it_on_the_page_by_the_api_and_by_command(member, client_of):
    key = make_token(member, "script", Scope.MANAGE)

    def is_required():
        return Workspace.objects.get(slug="ada-workspace").requires_second_factor

    client_of(member).post(
        SETTINGS, {"name": "Lab", "requires_second_factor": "on", "access": "open"}
    )
    assert is_required()
    call_command("workspace", "second-factor", "ada-workspace", "optional")
    assert not is_required()
    Client().patch(
        "/api/v1/workspaces/ada-workspace",
        {"requires_second_factor": True},
        content_type="application/json",
        headers={"authorization": f"Bearer {key}"},
    )
    assert is_required()
    out = io.StringIO()
    call_command("workspace", "list", stdout=out)
    assert out.getvalue() == "ada-workspace\tLab\tsecond factor: required\n"
    noted = AuditEntry.objects.filter(action="workspace.changed").order_by("id")
    changes = [entry.details["requires_second_factor"] for entry in noted]
    assert changes == [True, False, True]


def test_a_workspace_is_made_and_renamed_by_command(member):
    out = io.StringIO()

    call_command("workspace", "create", "Lab", "--owner", "ada", stdout=out)
    call_command("workspace", "rename", "lab", "The Lab")

    assert out.getvalue() == "lab\n"
    assert Workspace.objects.get(slug="lab").name == "The Lab"
