"""Invitations to a workspace or to one of its projects."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpResponse
from ninja import Field, Router, Schema

from tracker.access.people import (
    managed_invitation,
    managed_workspace,
    require_grantable,
)
from tracker.access.projects import readable_project
from tracker.actions.people.invitations import (
    MAX_DAYS,
    MAX_USES,
    InvitationRequest,
    invitation_url,
    invite,
    is_mailed,
    renew_invitation,
    revoke_invitation,
)
from tracker.actions.people.roles import role_named
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.v1.people.members import Json, RoleName, audit_context
from tracker.queries.people.invitations import InvitationRow, pending_invitations

router = Router(tags=["members"], auth=ReaderAuth())


class InvitationOut(Schema):
    id: int
    email: str = Field(description="Empty: anyone with the link may use it.")
    role: RoleName
    project: str | None
    invited_by: str
    created_at: datetime
    expires_at: datetime
    is_expired: bool
    use_count: int
    max_uses: int | None = Field(description="null: any number.")


class InvitationsOut(Schema):
    invitations: list[InvitationOut]


class InvitationIn(Schema):
    email: str = Field("", description="Empty makes a link for anyone who has it.")
    role: RoleName = "member"
    project: str | None = Field(
        None, description="Its slug; then the role is in this project alone."
    )
    expires_days: int = Field(7, json_schema_extra={"minimum": 1, "maximum": MAX_DAYS})
    max_uses: int | None = Field(
        1,
        description="Of a link; null is any number.",
        json_schema_extra={"minimum": 1, "maximum": MAX_USES},
    )
    send_mail: bool = Field(
        True, description="false: return the link instead of mailing it."
    )


class InvitedOut(Schema):
    url: str | None = Field(
        description="The link, shown only now; null if it was mailed."
    )


class RevokedOut(Schema):
    id: int
    is_revoked: bool


@router.get("/workspaces/{slug:workspace}/invitations", response=InvitationsOut)
def read_invitations(request: ApiRequest, workspace: str) -> HttpResponse:
    """The pending invitations, newest first; for owners and admins."""
    found = managed_workspace(request.auth, workspace)
    rows = pending_invitations(found)
    return json_response({"invitations": [_invitation(row) for row in rows]})


@router.post(
    "/workspaces/{slug:workspace}/invitations",
    response=InvitedOut,
    auth=WriterAuth(),
)
def write_invitation(
    request: ApiRequest, workspace: str, body: InvitationIn
) -> HttpResponse:
    """Invite a person by email, or create a link; no role above the caller's own."""
    found = managed_workspace(request.auth, workspace)
    role = role_named(body.role)
    require_grantable(request.auth, found, role)
    project = None
    if body.project is not None:
        project = readable_project(request.auth, workspace, body.project)
    invitation = InvitationRequest(
        role,
        project,
        body.email,
        body.expires_days,
        body.max_uses,
        body.send_mail,
    )
    secret = invite(found, invitation, audit_context(request))
    return _made(secret, was_mailed=body.send_mail and is_mailed(body.email))


@router.post(
    "/workspaces/{slug:workspace}/invitations/{int:invitation_id}/renew",
    response=InvitedOut,
    auth=WriterAuth(),
)
def renew(request: ApiRequest, workspace: str, invitation_id: int) -> HttpResponse:
    """Create a new link and mail it again; the old one stops working."""
    invitation = managed_invitation(request.auth, workspace, invitation_id)
    secret = renew_invitation(invitation, audit_context(request))
    return _made(secret, was_mailed=is_mailed(invitation.email))


@router.delete(
    "/workspaces/{slug:workspace}/invitations/{int:invitation_id}",
    response=RevokedOut,
    auth=WriterAuth(),
)
def revoke(request: ApiRequest, workspace: str, invitation_id: int) -> HttpResponse:
    """End an invitation permanently."""
    invitation = managed_invitation(request.auth, workspace, invitation_id)
    revoke_invitation(invitation, audit_context(request))
    return json_response({"id": invitation_id, "is_revoked": True})


def _made(secret: str, *, was_mailed: bool) -> HttpResponse:
    return json_response({"url": None if was_mailed else invitation_url(secret)})


def _invitation(row: InvitationRow) -> Json:
    return {
        "id": row.id,
        "email": row.email,
        "role": row.role,
        "project": row.project_slug or None,
        "invited_by": row.invited_by,
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "is_expired": row.is_expired,
        "use_count": row.use_count,
        "max_uses": row.max_uses,
    }
