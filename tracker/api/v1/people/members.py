"""The members of a workspace: their roles, and how they leave."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from django.db import transaction
from django.http import HttpResponse
from ninja import Field, Router, Schema

from tracker.access.people import (
    managed_member,
    managed_workspace,
    require_grantable,
    resettable_member,
    successor_of,
)
from tracker.actions.people.addresses import confirm_address
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.members import (
    change_role,
    deactivate,
    offboard,
    reactivate,
    remove,
)
from tracker.actions.people.roles import role_named
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.queries.people.members import MemberRow, Person, workspace_members
from tracker.server.client_address import client_address

router = Router(tags=["members"], auth=ReaderAuth())

RoleName = Literal["owner", "admin", "member", "viewer", "guest"]
Json = dict[str, object]


class ProjectRoleOut(Schema):
    project: str
    role: RoleName


class MemberOut(Schema):
    id: int
    username: str
    name: str
    email: str
    is_service: bool
    role: RoleName
    is_active: bool
    joined_at: datetime
    last_active_at: datetime | None
    projects: list[ProjectRoleOut] = Field(
        description="Projects that give the member a role of their own."
    )


class MembersOut(Schema):
    members: list[MemberOut]


class MemberIn(Schema):
    role: RoleName | None = None
    is_active: bool | None = Field(
        None, description="false closes the workspace to the member; true opens it."
    )


class LeavingIn(Schema):
    transfer_to: int | None = Field(
        None,
        description="The member who gets the projects, views and share links.",
    )


class RemovedOut(Schema):
    id: int
    is_removed: bool


@router.get("/workspaces/{slug:workspace}/members", response=MembersOut)
def read_members(request: ApiRequest, workspace: str) -> HttpResponse:
    """All members, active ones first; for owners and admins."""
    found = managed_workspace(request.auth, workspace)
    return json_response(
        {"members": [_member(row) for row in workspace_members(found)]}
    )


@router.patch(
    "/workspaces/{slug:workspace}/members/{int:member_id}",
    response=MemberOut,
    auth=WriterAuth(),
)
def write_member(
    request: ApiRequest, workspace: str, member_id: int, body: MemberIn
) -> HttpResponse:
    """Change a member's role, or deactivate or reactivate them.

    Keys and share links of a deactivated member do nothing until they are reactivated.
    The last owner stays one.
    """
    member = managed_member(request.auth, workspace, member_id)
    audit = audit_context(request)
    with transaction.atomic():
        if body.role is not None:
            role = role_named(body.role)
            require_grantable(request.auth, member.workspace, role)
            change_role(member, role, audit)
        if body.is_active is not None:
            change = reactivate if body.is_active else deactivate
            change(member, audit)
    return _one(request, workspace, member_id)


@router.post(
    "/workspaces/{slug:workspace}/members/{int:member_id}/confirm-email",
    response=MemberOut,
    auth=WriterAuth(),
)
def confirm_email(request: ApiRequest, workspace: str, member_id: int) -> HttpResponse:
    """Confirm the email address that a member entered on their profile.

    The caller must manage all workspaces of the member.
    """
    member = resettable_member(request.auth, workspace, member_id)
    by, address = request.auth.user_id, client_address(request)
    confirm_address(member.user, member.user.pending_email, by=by, address=address)
    return _one(request, workspace, member_id)


@router.post(
    "/workspaces/{slug:workspace}/members/{int:member_id}/offboard",
    response=MemberOut,
    auth=WriterAuth(),
)
def offboard_member(
    request: ApiRequest, workspace: str, member_id: int, body: LeavingIn
) -> HttpResponse:
    """End a member's sessions, keys, share links and invitations permanently.

    Their runs stay. An account without another workspace is deactivated.
    """
    member = managed_member(request.auth, workspace, member_id)
    offboard(
        member, audit_context(request), successor_of(member, _id(body.transfer_to))
    )
    return _one(request, workspace, member_id)


@router.post(
    "/workspaces/{slug:workspace}/members/{int:member_id}/remove",
    response=RemovedOut,
    auth=WriterAuth(),
)
def remove_member(
    request: ApiRequest, workspace: str, member_id: int, body: LeavingIn
) -> HttpResponse:
    """Delete a membership with its keys; the account and the runs stay."""
    member = managed_member(request.auth, workspace, member_id)
    remove(member, audit_context(request), successor_of(member, _id(body.transfer_to)))
    return json_response({"id": member_id, "is_removed": True})


def audit_context(request: ApiRequest) -> AuditContext:
    return AuditContext(request.auth.user_id, client_address(request))


def person_fields(person: Person) -> Json:
    return {
        "username": person.username,
        "name": person.name,
        "email": person.email,
        "is_service": person.is_service,
    }


def _id(number: int | None) -> str:
    return "" if number is None else str(number)


def _one(request: ApiRequest, workspace: str, member_id: int) -> HttpResponse:
    member = managed_member(request.auth, workspace, member_id)
    rows = workspace_members(member.workspace)
    return json_response(_member(next(row for row in rows if row.id == member_id)))


def _member(row: MemberRow) -> Json:
    return {
        "id": row.id,
        **person_fields(row.person),
        "role": row.role,
        "is_active": row.is_active,
        "joined_at": row.joined_at,
        "last_active_at": row.last_active_at,
        "projects": [
            {"project": each.slug, "role": each.role} for each in row.projects
        ],
    }
