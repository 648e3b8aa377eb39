"""The avatar of a user, and the menu of the signed-in user."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from tracker.models import Member, Role, User, Workspace


def avatar(user):
    return Template("{% load people %}{% avatar user %}").render(
        Context({"user": user})
    )


def test_an_avatar_has_the_initials_and_a_stable_color():
    user = User(id=13, username="ada", name="Ada <Lovelace>")

    assert avatar(user) == avatar(user)
    assert "avatar--3" in avatar(user)
    assert ">A&lt;</span>" in avatar(user)


def test_a_deleted_account_has_an_avatar_too():
    assert ">?</span>" in avatar(None)


@pytest.mark.database
@pytest.mark.django_db
def test_the_menu_switches_between_workspaces(member, client_of):
    lab = Workspace.objects.create(name="Robotics lab", slug="lab")
    Member.objects.create(workspace=lab, user=member.user, role=Role.VIEWER)
    left = Workspace.objects.create(name="Left behind", slug="left")
    Member.objects.create(
        workspace=left, user=member.user, role=Role.OWNER, is_active=False
    )

    page = client_of(member).get("/").content.decode()

    assert "Robotics lab" in page
    assert "Left behind" not in page


@pytest.mark.database
@pytest.mark.django_db
def test_a_menu_with_one_workspace_offers_no_switch(member, client_of):
    page = client_of(member).get("/").content.decode()

    assert 'id="account-menu"' in page
    assert "account-workspaces" not in page
