"""Creates, renews and revokes invitations to a workspace or project by secret link."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from tracker.actions.access import SECRET_BYTES, digest
from tracker.actions.people.accounts import valid_email
from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.mail import can_mail, queue_mail
from tracker.actions.people.roles import IN_PROJECT
from tracker.errors import InvalidInput
from tracker.models import Invitation, Member, Project, Role, Workspace
from tracker.models.workspace import MANAGING

INVITATION_MARK = "smi_"
MAX_DAYS = 30
MAX_USES = 1_000


@dataclass(frozen=True, slots=True)
class InvitationRequest:
    """A role in the workspace or, with a project, only in that project."""

    role: Role
    project: Project | None = None
    # Empty: anyone with the link may use it.
    email: str = ""
    days: int = 7
    # None: any number.
    max_uses: int | None = 1
    # False: the caller passes the link on, even if there is an address.
    send_mail: bool = True


def invite(workspace: Workspace, fields: InvitationRequest, audit: AuditContext) -> str:
    """Return the new invitation's secret; mail it if there is an address."""
    email = valid_email(fields.email) if fields.email else ""
    _check(workspace, fields, email)
    secret = _new_secret()
    with transaction.atomic():
        if email:
            # An address has one valid invitation per workspace or project.
            same = Invitation.objects.filter(
                workspace=workspace, project=fields.project, email__iexact=email
            )
            same.filter(revoked_at=None).update(revoked_at=timezone.now())
        invitation = Invitation.objects.create(
            workspace=workspace,
            project=fields.project,
            role=fields.role,
            email=email,
            digest=digest(secret),
            max_uses=1 if email else fields.max_uses,
            is_mailed=is_mailed(email) and fields.send_mail,
            created_by_id=audit.user_id,
            expires_at=timezone.now() + timedelta(days=fields.days),
        )
        _note(Action.INVITED, invitation, audit, days=fields.days)
        _mail(invitation, secret, audit)
    return secret


def renew_invitation(invitation: Invitation, audit: AuditContext) -> str:
    """Return a new secret; the old link stops working, and the lifetime restarts."""
    secret = _new_secret()
    lifetime = invitation.expires_at - invitation.created_at
    with transaction.atomic():
        invitation.digest = digest(secret)
        invitation.created_at = timezone.now()
        invitation.expires_at = invitation.created_at + lifetime
        invitation.created_by_id = audit.user_id
        invitation.is_mailed = is_mailed(invitation.email)
        invitation.save(
            update_fields=[
                "digest",
                "created_at",
                "expires_at",
                "created_by",
                "is_mailed",
            ]
        )
        _note(Action.INVITED, invitation, audit, renewed=True)
        _mail(invitation, secret, audit)
    return secret


def revoke_invitation(invitation: Invitation, audit: AuditContext) -> None:
    """End an invitation permanently; idempotent."""
    with transaction.atomic():
        open_ones = Invitation.objects.filter(id=invitation.id, revoked_at=None)
        if open_ones.update(revoked_at=timezone.now()):
            _note(Action.INVITATION_REVOKED, invitation, audit)


def is_mailed(email: str) -> bool:
    """Return whether an invitation to this address is mailed and not shown on a page.

    Using such a link then verifies the address.
    """
    return bool(email) and can_mail()


def invitation_url(secret: str, base: str = "") -> str:
    return (base or settings.PUBLIC_URL) + reverse("join", args=[secret])


def _new_secret() -> str:
    return INVITATION_MARK + secrets.token_urlsafe(SECRET_BYTES)


def _check(workspace: Workspace, fields: InvitationRequest, email: str) -> None:
    project = fields.project
    if project is not None and fields.role not in IN_PROJECT:
        raise InvalidInput("role", "in a project is viewer, member or admin")
    if project is None and fields.role == Role.GUEST:
        raise InvalidInput("project", "is needed to invite a guest")
    if not 0 < fields.days <= MAX_DAYS:
        raise InvalidInput("days", f"must be 1 to {MAX_DAYS}")
    if fields.max_uses is not None and not 0 < fields.max_uses <= MAX_USES:
        raise InvalidInput("uses", f"must be 1 to {MAX_USES}")
    if not email and fields.max_uses != 1 and fields.role in MANAGING:
        raise InvalidInput("uses", "must be 1 for the roles owner and admin")
    if email and project is None:
        members = Member.objects.filter(workspace=workspace, user__email__iexact=email)
        if members.exclude(role=Role.GUEST).exists():
            raise InvalidInput("email", "belongs to a member of this workspace")


def _note(
    action: Action, invitation: Invitation, audit: AuditContext, **details: object
) -> None:
    project = invitation.project
    audit.note(
        action,
        invitation.email or "link",
        invitation.workspace,
        role=invitation.role,
        project=project.name if project else "",
        max_uses=invitation.max_uses,
        **details,
    )


def _mail(invitation: Invitation, secret: str, audit: AuditContext) -> None:
    if not invitation.is_mailed:
        return
    queue_mail(
        invitation.email,
        "invitation",
        {
            "workspace": invitation.workspace,
            "project": invitation.project,
            "role": invitation.role,
            "by": audit.name,
            "url": invitation_url(secret),
            "expires_at": invitation.expires_at,
        },
    )
