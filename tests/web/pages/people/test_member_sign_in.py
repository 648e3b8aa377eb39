from __future__ import annotations

import re

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.test import Client

from tests.builders import make_member
from tracker.actions.people.accounts import create_account
from tracker.models import AuditEntry, Member, Role

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PASSWORD = "staple paper clip"


@pytest.fixture
def bob(member):
    user = create_account("bob@example.org", "Bob")
    return Member.objects.create(
        workspace=member.workspace, user=user, role=Role.MEMBER
    )


def address(member: Member, what: str) -> str:
    return f"/w/{member.workspace.slug}/members/{member.id}/{what}"


def test_an_owner_makes_a_link_that_sets_a_password(member, bob, client_of):
    answer = client_of(member).post(address(bob, "reset-link"))

    page = answer.content.decode()
    link = re.search(r'id="reset-link">([^<]+)<', page)[1]
    path = link.removeprefix(settings.PUBLIC_URL)
    visitor = Client()
    form = visitor.get(path, follow=True).request["PATH_INFO"]
    visitor.post(form, {"password1": PASSWORD, "password2": PASSWORD})
    visitor.post("/sign-in", {"login": "bob@example.org", "password": PASSWORD})
    assert visitor.get("/account/").status_code == 200
    assert AuditEntry.objects.filter(action="password.reset-link-made").exists()


@pytest.mark.parametrize("what", ["reset-link", "second-factor"])
@pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
def test_a_member_resets_nobody(member, bob, client_of, role, what):
    colleague = make_member("carl", role, workspace=member.workspace)

    assert client_of(colleague).post(address(bob, what)).status_code == 403


def test_an_admin_resets_no_owner(member, client_of):
    admin = make_member("carl", Role.ADMIN, workspace=member.workspace)

    assert client_of(admin).post(address(member, "reset-link")).status_code == 403


def test_whoever_has_another_workspace_is_not_reset_from_this_one(
    member, bob, stranger, client_of
):
    Member.objects.create(workspace=stranger.workspace, user=bob.user, role=Role.VIEWER)
    visitor = client_of(member)

    assert visitor.post(address(bob, "reset-link")).status_code == 403
    assert b"Create reset link" not in visitor.get(address(bob, "")[:-1]).content


def test_a_lost_second_factor_is_removed(member, bob, client_of):
    Authenticator.objects.create(user=bob.user, type="totp", data={"secret": "x"})

    client_of(member).post(address(bob, "second-factor"))

    assert not Authenticator.objects.exists()
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.user) == ("second-factor.changed", member.user)
