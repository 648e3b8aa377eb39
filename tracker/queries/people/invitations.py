"""The invitations of a workspace that can still be used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q
from django.utils import timezone

from tracker.models import Invitation, Project, Workspace


@dataclass(frozen=True, slots=True)
class InvitationRow:
    id: int
    # Empty: anyone with the link may use it.
    email: str
    role: str
    project: str
    project_slug: str
    invited_by: str
    created_at: datetime
    expires_at: datetime
    is_expired: bool
    use_count: int
    # None: any number.
    max_uses: int | None


def pending_invitations(
    workspace: Workspace, project: Project | None = None
) -> list[InvitationRow]:
    """Return those that are neither used up nor revoked, the newest first.

    Expired ones are among them, so that they can be sent again.
    """
    unused = Q(max_uses=None) | Q(use_count__lt=F("max_uses"))
    found = Invitation.objects.filter(unused, workspace=workspace, revoked_at=None)
    if project is not None:
        found = found.filter(project=project)
    now = timezone.now()
    rows = found.select_related("project", "created_by").order_by("-created_at", "-id")
    return [_row(invitation, now) for invitation in rows]


def _row(invitation: Invitation, now: datetime) -> InvitationRow:
    project, inviter = invitation.project, invitation.created_by
    return InvitationRow(
        id=invitation.id,
        email=invitation.email,
        role=invitation.role,
        project=project.name if project else "",
        project_slug=project.slug if project else "",
        invited_by=inviter.display_name if inviter else "",
        created_at=invitation.created_at,
        expires_at=invitation.expires_at,
        is_expired=invitation.expires_at <= now,
        use_count=invitation.use_count,
        max_uses=invitation.max_uses,
    )
