"""Workspaces: created, changed and deleted."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from ninja import Field, Router, Schema

from tracker.access.people import managed_workspace, own_member
from tracker.access.workspaces import owned_workspace, require_workspace_maker
from tracker.actions.people.workspaces import (
    WorkspaceRequest,
    change_workspace,
    create_workspace,
    delete_workspace,
    stored_request,
)
from tracker.api.answers import json_response, number
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.v1.people.members import audit_context
from tracker.api.v1.projects import Days, Price
from tracker.errors import InvalidInput

router = Router(tags=["workspaces"], auth=ReaderAuth())

TO_CHANGE = "change the workspace"


class WorkspaceDetailsOut(Schema):
    """`retention_days` to `projects_are_open` are defaults for new projects."""

    slug: str
    name: str
    description: str
    created_at: datetime
    retention_days: int | None
    gpu_hour_price: float | None
    currency: str
    projects_are_open: bool
    requires_second_factor: bool


class WorkspaceIn(Schema):
    name: str
    description: str = ""


class WorkspaceChangeIn(Schema):
    """Fields that are left out stay as they are."""

    name: str = ""
    description: str = ""
    retention_days: Days | None = Field(None, description="null: for ever.")
    gpu_hour_price: Price | None = Field(None, description="null: not known.")
    currency: str = ""
    projects_are_open: bool = True
    requires_second_factor: bool = Field(
        False, description="true: members without one reach no page."
    )


class DeletedWorkspaceOut(Schema):
    slug: str
    is_deleted: bool


@router.post("/workspaces", response=WorkspaceDetailsOut, auth=WriterAuth())
def write_workspace(request: ApiRequest, body: WorkspaceIn) -> HttpResponse:
    """Create a workspace owned by the caller, an owner or admin of another one.

    API keys belong to one workspace: the key that creates another has no access to it.
    """
    require_workspace_maker(request.auth)
    workspace = WorkspaceRequest(body.name, body.description)
    audit = audit_context(request)
    return _details(create_workspace(workspace, request.auth.user_id, audit))


@router.get("/workspaces/{slug:workspace}", response=WorkspaceDetailsOut)
def read_workspace(request: ApiRequest, workspace: str) -> HttpResponse:
    """A workspace with its settings."""
    return _details(own_member(request.auth, workspace).workspace)


@router.patch(
    "/workspaces/{slug:workspace}", response=WorkspaceDetailsOut, auth=WriterAuth()
)
def change(
    request: ApiRequest, workspace: str, body: WorkspaceChangeIn
) -> HttpResponse:
    """Change the name, the description or the defaults of new projects."""
    found = managed_workspace(request.auth, workspace, to=TO_CHANGE)
    given = body.model_dump(exclude_unset=True)
    if not given:
        raise InvalidInput("The body", "must name at least one field to change")
    change_workspace(
        found, replace(stored_request(found), **given), audit_context(request)
    )
    return _details(own_member(request.auth, workspace).workspace)


@router.delete(
    "/workspaces/{slug:workspace}", response=DeletedWorkspaceOut, auth=WriterAuth()
)
def delete(request: ApiRequest, workspace: str) -> HttpResponse:
    """Delete a workspace without projects, with its members and keys."""
    found = owned_workspace(request.auth, workspace)
    delete_workspace(found, audit_context(request))
    return json_response({"slug": workspace, "is_deleted": True})


# Any: a row of the workspaces table, which endpoints do not import.
def _details(workspace: Any) -> HttpResponse:
    return json_response(
        {
            "slug": workspace.slug,
            "name": workspace.name,
            "description": workspace.description,
            "created_at": workspace.created_at,
            "retention_days": workspace.retention_days,
            "gpu_hour_price": number(workspace.gpu_hour_price),
            "currency": workspace.currency,
            "projects_are_open": workspace.projects_are_open,
            "requires_second_factor": workspace.requires_second_factor,
        }
    )
