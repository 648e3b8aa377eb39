"""Opens invitations and adds their users as members."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from tracker.actions.access import digest
from tracker.actions.people.accounts import create_account
from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.project_members import set_project_role
from tracker.actions.people.roles import reaches
from tracker.models import Invitation, Member, Role, User, Workspace
from tracker.models.workspace import MANAGING


class Refusal(StrEnum):
    """The reason why an existing invitation cannot be used."""

    REVOKED = "revoked"
    EXPIRED = "expired"
    USED = "used"
    # The inviter may no longer grant this role.
    WITHDRAWN = "withdrawn"
    OTHER_EMAIL = "other_email"
    DEACTIVATED = "deactivated"
    ALREADY_MEMBER = "already_member"


class CannotJoin(Exception):
    """The invitation cannot be used; the page explains the refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


def find_invitation(secret: str) -> Invitation | None:
    """Return the invitation with this secret, usable or not."""
    # Looked up by digest, so that the response time does not depend on the secret.
    found = Invitation.objects.filter(digest=digest(secret))
    return found.select_related("workspace", "project", "created_by").first()


def refusal_of(
    invitation: Invitation, user: User | None = None, now: datetime | None = None
) -> Refusal | None:
    """Return why the user cannot accept the invitation; None: they can."""
    now = now or timezone.now()
    if invitation.revoked_at is not None:
        return Refusal.REVOKED
    if invitation.max_uses is not None and invitation.use_count >= invitation.max_uses:
        return Refusal.USED
    if invitation.expires_at <= now:
        return Refusal.EXPIRED
    if not _may_still_invite(invitation):
        return Refusal.WITHDRAWN
    return None if user is None else _refusal_of_user(invitation, user)


def is_invited(secret: str, email: str) -> bool:
    """Return whether a new account with this verified address can join by the link."""
    invitation = find_invitation(secret) if secret else None
    if invitation is None or refusal_of(invitation) is not None:
        return False
    return invitation.email.lower() in ("", email)


def join(secret: str, user: User, *, address: str = "") -> Invitation:
    """Make the user a member; raise CannotJoin if the invitation cannot be used."""
    with transaction.atomic():
        invitation = _taken(secret, user)
        audit = AuditContext(user.id, address)
        member = _member_of(invitation, user)
        if invitation.project is not None:
            role = Role(invitation.role)
            set_project_role(
                invitation.project, member, role, audit, by_invitation=True
            )
        audit.note(
            Action.INVITATION_ACCEPTED,
            user,
            invitation.workspace,
            role=invitation.role,
            project=invitation.project.name if invitation.project else "",
            invited_by=invitation.created_by_id,
        )
    return invitation


def join_as_new(
    secret: str, *, email: str, name: str, password: str, address: str = ""
) -> User:
    """Create an account for the invitation's address, and add it as a member."""
    with transaction.atomic():
        invitation = find_invitation(secret)
        refusal = refusal_of(invitation) if invitation else Refusal.REVOKED
        if invitation is None or refusal is not None:
            raise CannotJoin(refusal or Refusal.REVOKED)
        user = create_account(
            invitation.email or email,
            name,
            password,
            email_is_verified=invitation.is_mailed,
            address=address,
        )
        join(secret, user, address=address)
    return user


def _taken(secret: str, user: User) -> Invitation:
    """Return the invitation and count one use; the row decides between two at once."""
    invitation = find_invitation(secret)
    if invitation is None:
        raise CannotJoin(Refusal.REVOKED)
    # Blocks concurrent changes of the workspace's members.
    Workspace.objects.select_for_update().get(id=invitation.workspace_id)
    if (refusal := refusal_of(invitation, user)) is not None:
        raise CannotJoin(refusal)
    has_uses = Q(max_uses=None) | Q(use_count__lt=F("max_uses"))
    usable = Invitation.objects.filter(has_uses, id=invitation.id, revoked_at=None)
    if not usable.update(use_count=F("use_count") + 1):
        raise CannotJoin(Refusal.USED)
    return invitation


def _member_of(invitation: Invitation, user: User) -> Member:
    role = Role.GUEST if invitation.project else Role(invitation.role)
    member, is_new = Member.objects.get_or_create(
        workspace=invitation.workspace, user=user, defaults={"role": role}
    )
    if not is_new and invitation.project is None and not reaches(member.role, role):
        member.role = role
        member.save(update_fields=["role"])
    return member


def _may_still_invite(invitation: Invitation) -> bool:
    if invitation.created_by_id is None:
        return True
    inviter = Member.objects.active().filter(
        user=invitation.created_by_id, workspace=invitation.workspace_id
    )
    role = inviter.values_list("role", flat=True).first()
    if role in MANAGING:
        return reaches(role, invitation.role)
    return False


def _refusal_of_user(invitation: Invitation, user: User) -> Refusal | None:
    if invitation.email and invitation.email.lower() != user.email.lower():
        return Refusal.OTHER_EMAIL
    member = Member.objects.filter(user=user, workspace=invitation.workspace_id).first()
    if member is None:
        return None
    if not member.is_active:
        return Refusal.DEACTIVATED
    role = _role_at(invitation, member)
    has_it = role is not None and reaches(role, invitation.role)
    return Refusal.ALREADY_MEMBER if has_it else None


def _role_at(invitation: Invitation, member: Member) -> str | None:
    """Return the member's role in the invitation's workspace or project."""
    project = invitation.project
    if project is None or member.role in MANAGING:
        return member.role
    given = member.projects.filter(project=project).values_list("role", flat=True)
    if (role := given.first()) is not None:
        return role
    return member.role if project.is_open and member.role != Role.GUEST else None
