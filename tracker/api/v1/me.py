"""The caller's identity, to check an API key."""

from __future__ import annotations

from django.http import HttpResponse
from ninja import Router, Schema

from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, CallerAuth
from tracker.queries.projects.members import memberships
from tracker.version import VERSION

router = Router(tags=["account"])


class WorkspaceOut(Schema):
    slug: str
    name: str
    role: str


class MeOut(Schema):
    version: str
    user: str
    scope: str
    workspaces: list[WorkspaceOut]


@router.get("/me", response=MeOut, auth=CallerAuth())
def read_caller(request: ApiRequest) -> HttpResponse:
    """The user of the API key or session, and their roles."""
    found = memberships(request.auth)
    return json_response(
        {
            "version": VERSION,
            "user": found[0].user if found else "",
            "scope": request.auth.scope,
            "workspaces": [
                {"slug": each.slug, "name": each.workspace, "role": each.role}
                for each in found
            ],
        }
    )
