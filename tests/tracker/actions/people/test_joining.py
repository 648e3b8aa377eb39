"""Invitations work once, until they expire, and give no role above the inviter's."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.utils import timezone

from tests.builders import make_member, make_project
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.invitations import (
    InvitationRequest,
    invite,
    renew_invitation,
    revoke_invitation,
)
from tracker.actions.people.joining import CannotJoin, Refusal, join, join_as_new
from tracker.actions.people.members import change_role, deactivate
from tracker.errors import InvalidInput
from tracker.models import AuditEntry, Invitation, Mail, Member, ProjectMember, Role
from tracker.queries.people.invitations import pending_invitations

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NEW = {"name": "Bob", "password": "long enough and rare"}


@pytest.fixture
def audit(member):
    return AuditContext(member.user_id)


@pytest.fixture
def eve(stranger):
    """A user who is not a member of this workspace."""
    stranger.user.email = "Eve@example.com"
    stranger.user.save()
    return stranger.user


def wanted(role=Role.MEMBER, **options):
    return InvitationRequest(role, **options)


def refused(secret, user):
    with pytest.raises(CannotJoin) as caught:
        join(secret, user)
    return caught.value.refusal


def test_a_new_person_joins_with_the_address_that_was_invited(member, audit):
    secret = invite(member.workspace, wanted(email="Bob@Example.com"), audit)

    user = join_as_new(secret, email="other@example.com", **NEW)

    assert user.email == "bob@example.com"
    assert user.check_password(NEW["password"])
    # Without an email, the address is not confirmed.
    assert not EmailAddress.objects.filter(verified=True).exists()
    assert Member.objects.get(user=user).role == Role.MEMBER
    assert pending_invitations(member.workspace) == []
    actions = AuditEntry.objects.values_list("action", flat=True)
    assert {"invitation.created", "account.created", "invitation.accepted"} <= {
        *actions
    }


def test_an_invitation_works_as_often_as_it_may(member, audit, eve):
    secret = invite(member.workspace, wanted(max_uses=2), audit)
    join(secret, eve)
    assert refused(secret, eve) == Refusal.ALREADY_MEMBER
    join_as_new(secret, email="bob@example.com", **NEW)

    with pytest.raises(CannotJoin) as caught:
        join_as_new(secret, email="carl@example.com", **NEW)
    assert caught.value.refusal == Refusal.USED


def test_an_account_is_not_made_for_an_invitation_that_is_over(member, audit):
    from tracker.models import User

    secret = invite(member.workspace, wanted(), audit)
    Invitation.objects.update(expires_at=timezone.now())

    with pytest.raises(CannotJoin):
        join_as_new(secret, email="bob@example.com", **NEW)
    assert not User.objects.filter(email="bob@example.com").exists()


def test_expired_revoked_and_renewed_links_are_refused(member, audit, eve):
    secret = invite(member.workspace, wanted(), audit)
    invitation = Invitation.objects.get()
    Invitation.objects.update(
        expires_at=timezone.now(), created_at=timezone.now() - timedelta(days=7)
    )
    assert refused(secret, eve) == Refusal.EXPIRED

    invitation.refresh_from_db()
    renewed = renew_invitation(invitation, audit)
    assert refused(secret, eve) == Refusal.REVOKED

    revoke_invitation(invitation, audit)
    assert refused(renewed, eve) == Refusal.REVOKED
    assert not Member.objects.filter(user=eve, workspace=member.workspace).exists()


def test_another_address_is_refused_and_case_does_not_matter(member, audit, eve):
    other = invite(member.workspace, wanted(email="bob@example.com"), audit)
    assert refused(other, eve) == Refusal.OTHER_EMAIL

    join(invite(member.workspace, wanted(email="eve@EXAMPLE.com"), audit), eve)
    assert Member.objects.filter(user=eve, workspace=member.workspace).exists()


def test_an_invitation_gives_no_more_than_its_maker_has(member, audit, eve):
    bob = make_member("bob", Role.OWNER, workspace=member.workspace)
    secret = invite(member.workspace, wanted(Role.OWNER), AuditContext(bob.user_id))

    change_role(bob, Role.ADMIN, audit)
    assert refused(secret, eve) == Refusal.WITHDRAWN
    change_role(bob, Role.OWNER, audit)
    deactivate(bob, audit)
    assert refused(secret, eve) == Refusal.WITHDRAWN


def test_a_deactivated_member_does_not_return_by_a_link(member, audit, eve):
    secret = invite(member.workspace, wanted(max_uses=None), audit)
    join(secret, eve)
    deactivate(Member.objects.get(user=eve, workspace=member.workspace), audit)

    assert refused(secret, eve) == Refusal.DEACTIVATED


def test_an_invitation_to_a_project_makes_a_guest_of_it(member, audit, eve):
    project = make_project(member)
    secret = invite(member.workspace, wanted(Role.VIEWER, project=project), audit)

    join(secret, eve)

    joined = Member.objects.get(user=eve, workspace=member.workspace)
    assert joined.role == Role.GUEST
    assert ProjectMember.objects.get(member=joined).role == Role.VIEWER


def test_an_invitation_never_lowers_a_role(member, audit):
    project = make_project(member)
    bob = make_member("bob", Role.MEMBER, workspace=member.workspace)

    for less in (wanted(Role.VIEWER), wanted(Role.VIEWER, project=project)):
        secret = invite(member.workspace, less, audit)
        assert refused(secret, bob.user) == Refusal.ALREADY_MEMBER

    carl = make_member("carl", Role.VIEWER, workspace=member.workspace)
    join(invite(member.workspace, wanted(Role.MEMBER), audit), carl.user)
    carl.refresh_from_db()
    assert carl.role == Role.MEMBER


@pytest.mark.parametrize(
    "bad",
    [
        wanted(Role.GUEST),
        wanted(days=0),
        wanted(days=31),
        wanted(max_uses=0),
        wanted(Role.ADMIN, max_uses=None),
        wanted(email="no address"),
    ],
    ids=str,
)
def test_an_invitation_that_makes_no_sense_is_refused(member, audit, bad):
    with pytest.raises(InvalidInput):
        invite(member.workspace, bad, audit)


def test_a_second_invitation_of_an_address_replaces_the_first(member, audit, eve):
    first, second = (
        invite(member.workspace, wanted(email="eve@example.com"), audit)
        for _ in range(2)
    )

    assert refused(first, eve) == Refusal.REVOKED
    join(second, eve)


def test_an_invitation_is_mailed_as_text_and_page(member, audit, settings):
    settings.SMTP_URL = "smtp://localhost"
    settings.PUBLIC_URL = "https://seamark.example"
    member.workspace.name = "R&D <b>"
    member.workspace.save()

    secret = invite(member.workspace, wanted(email="bob@example.com"), audit)

    mail = Mail.objects.get()
    link = f"https://seamark.example/join/{secret}"
    join_as_new(secret, email="", **NEW)
    assert EmailAddress.objects.get(email="bob@example.com").verified
    assert mail.to == "bob@example.com"
    assert mail.subject == "ada invited you to R&D <b>"
    assert link in mail.text
    assert "R&D <b>" in mail.text
    assert f'href="{link}"' in mail.html
    assert "R&amp;D &lt;b&gt;" in mail.html
