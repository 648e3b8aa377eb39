"""The members of a project: chosen ones with their roles, or the whole workspace."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpResponse
from ninja import Field, Router, Schema

from tracker.access.people import member_of_project, member_to_add, shared_project
from tracker.actions.people.project_members import (
    remove_project_member,
    set_project_open,
    set_project_role,
)
from tracker.actions.people.roles import role_named
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.v1.people.members import Json, RoleName, audit_context, person_fields
from tracker.queries.people.members import project_members

router = Router(tags=["members"], auth=ReaderAuth())


class ProjectMemberOut(Schema):
    id: int
    username: str
    name: str
    email: str
    is_service: bool
    role: RoleName
    is_given: bool = Field(
        description="true: the project gives the role; false: the workspace does."
    )


class ProjectMembersOut(Schema):
    is_open: bool = Field(description="true: the whole workspace sees the project.")
    members: list[ProjectMemberOut]


class ProjectMemberIn(Schema):
    who: str = Field(description="Email address or username of a member.")
    role: Literal["viewer", "member", "admin"]


class AccessIn(Schema):
    is_open: bool


@router.get(
    "/projects/{slug:workspace}/{slug:project}/members", response=ProjectMembersOut
)
def read_project_members(
    request: ApiRequest, workspace: str, project: str
) -> HttpResponse:
    """Everyone with access to the project; for those who manage it."""
    return _response(shared_project(request.auth, workspace, project))


@router.post(
    "/projects/{slug:workspace}/{slug:project}/members",
    response=ProjectMembersOut,
    auth=WriterAuth(),
)
def write_project_member(
    request: ApiRequest, workspace: str, project: str, body: ProjectMemberIn
) -> HttpResponse:
    """Add a member of the workspace to the project, or change their role in it."""
    found = shared_project(request.auth, workspace, project)
    member = member_to_add(found, body.who)
    set_project_role(found, member, role_named(body.role), audit_context(request))
    return _response(found)


@router.delete(
    "/projects/{slug:workspace}/{slug:project}/members/{int:member_id}",
    response=ProjectMembersOut,
    auth=WriterAuth(),
)
def delete_project_member(
    request: ApiRequest, workspace: str, project: str, member_id: int
) -> HttpResponse:
    """Remove the role that the project gives a member."""
    found = shared_project(request.auth, workspace, project)
    member = member_of_project(found, member_id)
    remove_project_member(found, member, audit_context(request))
    return _response(found)


@router.put(
    "/projects/{slug:workspace}/{slug:project}/access",
    response=ProjectMembersOut,
    auth=WriterAuth(),
)
def write_access(
    request: ApiRequest, workspace: str, project: str, body: AccessIn
) -> HttpResponse:
    """Open the project to the whole workspace, or only to chosen members."""
    found = shared_project(request.auth, workspace, project)
    set_project_open(found, audit_context(request), is_open=body.is_open)
    return _response(shared_project(request.auth, workspace, project))


# Any: a row of the projects table, which endpoints do not import.
def _response(project: Any) -> HttpResponse:
    rows = project_members(project)
    members: list[Json] = [
        {
            "id": row.member_id,
            **person_fields(row.person),
            "role": row.role,
            "is_given": row.is_given,
        }
        for row in rows
    ]
    return json_response({"is_open": project.is_open, "members": members})
