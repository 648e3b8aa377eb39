"""Roles change and members leave; a workspace always keeps an owner."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from tests.builders import browser_of, make_member, make_project, make_run
from tracker.actions.access import authenticate, make_token
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.invitations import InvitationRequest, invite
from tracker.actions.people.members import (
    change_role,
    deactivate,
    offboard,
    reactivate,
    remove,
)
from tracker.actions.saved_views import keep_view
from tracker.actions.shares import LinkRequest, make_link, open_link
from tracker.actor import Scope
from tracker.errors import InvalidInput
from tracker.models import (
    AuditEntry,
    Invitation,
    Member,
    Project,
    Role,
    SavedView,
    ShareLink,
)
from tracker.queries.people.members import leaving

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def audit(member):
    return AuditContext(member.user_id, "192.0.2.1")


@pytest.fixture
def bob(member):
    """Another admin, who owns a project, a view, a share link, a key and more."""
    bob = make_member("bob", Role.ADMIN, workspace=member.workspace)
    project = make_project(member)
    project.owner = bob.user
    project.save()
    run = make_run(project)
    run.made_by = bob.user
    run.save()
    for each in (bob, member):
        keep_view(project, browser_of(each), "mine", "", is_shared=False)
    bob.link = make_link(project, browser_of(bob), LinkRequest("run", str(run.id)))
    bob.key = make_token(bob, "node", Scope.MANAGE)
    bob.browser = Client()
    bob.browser.force_login(bob.user)
    bob.browser.get("/")
    invite(member.workspace, InvitationRequest(Role.MEMBER), AuditContext(bob.user_id))
    return bob


@pytest.mark.parametrize("leave", [deactivate, remove, offboard])
def test_the_last_owner_stays(member, audit, leave):
    passive = make_member("bob", Role.OWNER, workspace=member.workspace)
    deactivate(passive, audit)

    with pytest.raises(InvalidInput, match="last owner"):
        leave(member, audit)
    with pytest.raises(InvalidInput, match="last owner"):
        change_role(member, Role.ADMIN, audit)

    reactivate(passive, audit)
    change_role(member, Role.ADMIN, audit)
    assert Member.objects.get(id=member.id).role == Role.ADMIN


def test_a_deactivated_member_sees_nothing_and_returns_with_their_keys(bob, audit):
    deactivate(bob, audit)
    assert authenticate(bob.key) is None
    assert open_link(bob.link) is None

    reactivate(bob, audit)

    assert authenticate(bob.key) is not None
    assert open_link(bob.link) is not None


def test_offboarding_ends_everything_for_good_and_keeps_the_runs(bob, audit):
    had = leaving(bob)
    assert (had.sessions, had.keys, had.share_links, had.invitations) == (1, 1, 1, 1)
    assert (had.projects, had.views, had.runs, had.is_only_workspace) == (1, 1, 1, True)

    offboard(bob, audit)

    bob.user.refresh_from_db()
    assert not bob.user.is_active
    assert not Session.objects.exists()
    left = leaving(bob)
    assert (left.sessions, left.keys, left.share_links, left.invitations) == (0,) * 4
    assert left.runs == 1
    entry = AuditEntry.objects.get(action="member.deactivated")
    assert (entry.user_id, entry.address) == (audit.user_id, "192.0.2.1")
    assert entry.details["ended_keys"] == entry.details["ended_links"] == 1

    reactivate(bob, audit)
    bob.user.refresh_from_db()
    assert bob.user.is_active
    assert authenticate(bob.key) is None
    assert open_link(bob.link) is None


def test_an_account_with_another_workspace_stays_active(bob, audit, stranger):
    Member.objects.create(workspace=stranger.workspace, user=bob.user, role=Role.VIEWER)

    offboard(bob, audit)

    bob.user.refresh_from_db()
    assert bob.user.is_active
    assert bob.browser.get("/w/ada-workspace/vision/").status_code != 200


def test_objects_of_a_removed_member_go_to_the_successor(member, bob, audit):
    remove(bob, audit, successor=member)

    assert not Member.objects.filter(id=bob.id).exists()
    assert Project.objects.get().owner == member.user
    assert ShareLink.objects.get().made_by == member.user
    assert open_link(bob.link) is not None
    names = SavedView.objects.filter(owner=member.user).values_list("name", flat=True)
    assert sorted(names) == ["mine", "mine (bob 1)"]
    assert Invitation.objects.get().revoked_at is not None
    assert authenticate(bob.key) is None


def test_without_an_heir_links_end_and_projects_have_no_owner(bob, audit):
    remove(bob, audit)

    assert Project.objects.get().owner is None
    assert open_link(bob.link) is None


@pytest.mark.parametrize("role", [Role.VIEWER, Role.GUEST])
def test_a_member_who_cannot_edit_is_no_heir(member, bob, audit, role):
    viewer = make_member("eve", role, workspace=member.workspace)

    with pytest.raises(InvalidInput, match="active member"):
        remove(bob, audit, successor=viewer)


def test_a_new_role_is_mailed(member, audit, bob, settings):
    from tracker.models import Mail

    settings.SMTP_URL = "smtp://localhost"
    bob.user.email = "bob@example.com"
    bob.user.save()

    change_role(bob, Role.VIEWER, audit)

    mail = Mail.objects.get()
    assert (mail.to, "viewer" in mail.text, "ada" in mail.html) == (
        "bob@example.com",
        True,
        True,
    )
