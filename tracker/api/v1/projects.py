"""Projects: listed, created, changed, archived and deleted."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpResponse
from ninja import Field, Router, Schema

from tracker.access.people import member_to_add
from tracker.access.projects import managed_project, owned_project, readable_project
from tracker.access.workspaces import project_making_workspace
from tracker.actions.prices import set_carbon_intensity, set_price
from tracker.actions.projects import (
    ProjectRequest,
    archive_project,
    change_project,
    create_project,
    delete_project,
    restore_project,
)
from tracker.actions.runs.trash import (
    LONGEST_RETENTION_DAYS,
    SHORTEST_RETENTION_DAYS,
    set_retention,
)
from tracker.api.answers import json_response, number
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.v1.people.members import Json, audit_context
from tracker.errors import InvalidInput
from tracker.queries.projects.projects import ProjectSummary, project_summaries

router = Router(tags=["projects"], auth=ReaderAuth())

# For the description only: the action validates with better messages.
DAYS = {"minimum": SHORTEST_RETENTION_DAYS, "maximum": LONGEST_RETENTION_DAYS}
# Strict, because pydantic accepts `true` as an integer.
Days = Annotated[int, Field(strict=True, json_schema_extra=DAYS)]
Price = Annotated[float, Field(strict=True, json_schema_extra={"minimum": 0})]


class ProjectOut(Schema):
    workspace: str
    slug: str
    name: str
    run_count: int
    running_count: int
    failed_count: int
    last_activity_at: datetime | None


class ProjectsOut(Schema):
    projects: list[ProjectOut]


class ProjectDetailsOut(Schema):
    workspace: str
    slug: str
    name: str
    description: str
    owner: str | None = Field(description="Username of the owner.")
    is_open: bool = Field(description="true: the whole workspace sees the project.")
    is_archived: bool
    created_at: datetime
    retention_days: int | None
    gpu_hour_price: float | None
    currency: str
    carbon_intensity: float | None = Field(description="g CO₂e per kWh.")


class ProjectIn(Schema):
    name: str
    description: str = ""
    is_open: bool | None = Field(
        None, description="null: the default of the workspace."
    )


class ProjectChangeIn(Schema):
    """Fields that are left out stay as they are."""

    name: str = ""
    description: str = ""
    owner: str | None = Field(
        None, description="Email address or username of a member; null: none."
    )
    retention_days: Days | None = Field(
        None,
        description="Runs silent for longer go to the trash; null keeps them for ever.",
    )
    gpu_hour_price: Price | None = Field(None, description="null: not known.")
    currency: str = ""
    carbon_intensity: float | None = Field(
        None, description="g CO₂e per kWh of electricity; null: not known."
    )


class DeletedProjectOut(Schema):
    workspace: str
    slug: str
    is_deleted: bool


@router.get("/projects", response=ProjectsOut)
def read_projects(request: ApiRequest) -> HttpResponse:
    """All projects, latest activity first."""
    projects = project_summaries(request.auth)
    return json_response({"projects": [_project(project) for project in projects]})


@router.post(
    "/workspaces/{slug:workspace}/projects",
    response=ProjectDetailsOut,
    auth=WriterAuth(),
)
def write_project(request: ApiRequest, workspace: str, body: ProjectIn) -> HttpResponse:
    """Create a project; it takes the other defaults of the workspace."""
    found = project_making_workspace(request.auth, workspace)
    made = create_project(
        found,
        ProjectRequest(body.name, body.description),
        audit_context(request),
        is_open=found.projects_are_open if body.is_open is None else body.is_open,
    )
    return _details(made)


@router.get("/projects/{slug:workspace}/{slug:project}", response=ProjectDetailsOut)
def read_project(request: ApiRequest, workspace: str, project: str) -> HttpResponse:
    """A project with its settings."""
    return _details(readable_project(request.auth, workspace, project))


@router.patch(
    "/projects/{slug:workspace}/{slug:project}",
    response=ProjectDetailsOut,
    auth=WriterAuth(),
)
def change(
    request: ApiRequest, workspace: str, project: str, body: ProjectChangeIn
) -> HttpResponse:
    """Change name, description, owner, retention, price or carbon intensity."""
    found = owned_project(request.auth, workspace, project)
    given, audit = body.model_dump(exclude_unset=True), audit_context(request)
    if not given:
        raise InvalidInput("The body", "must name at least one field to change")
    with transaction.atomic():
        if given.keys() & {"name", "description", "owner"}:
            change_project(found, _changed(found, given), audit)
        if "retention_days" in given:
            set_retention(found, given["retention_days"], audit)
        if given.keys() & {"gpu_hour_price", "currency"}:
            price = given.get("gpu_hour_price", found.gpu_hour_price)
            set_price(found, price, given.get("currency", found.currency), audit)
        if "carbon_intensity" in given:
            set_carbon_intensity(found, given["carbon_intensity"], audit)
    return _details(found)


@router.post(
    "/projects/{slug:workspace}/{slug:project}/archive",
    response=ProjectDetailsOut,
    auth=WriterAuth(),
)
def archive(request: ApiRequest, workspace: str, project: str) -> HttpResponse:
    """Make a project read-only; nothing can be logged to it or changed in it."""
    found = managed_project(request.auth, workspace, project)
    archive_project(found, audit_context(request))
    return _details(readable_project(request.auth, workspace, project))


@router.post(
    "/projects/{slug:workspace}/{slug:project}/restore",
    response=ProjectDetailsOut,
    auth=WriterAuth(),
)
def restore(request: ApiRequest, workspace: str, project: str) -> HttpResponse:
    """Open an archived project again."""
    found = managed_project(request.auth, workspace, project)
    restore_project(found, audit_context(request))
    return _details(readable_project(request.auth, workspace, project))


@router.delete(
    "/projects/{slug:workspace}/{slug:project}",
    response=DeletedProjectOut,
    auth=WriterAuth(),
)
def delete(request: ApiRequest, workspace: str, project: str) -> HttpResponse:
    """Delete a project with all its runs, permanently."""
    found = managed_project(request.auth, workspace, project)
    delete_project(found, audit_context(request))
    return json_response({"workspace": workspace, "slug": project, "is_deleted": True})


# Any: a row of the projects table, which endpoints do not import, and JSON.
def _changed(project: Any, given: dict[str, Any]) -> ProjectRequest:
    owner_id = project.owner_id
    if "owner" in given:
        owner = given["owner"]
        owner_id = member_to_add(project, owner).user_id if owner else None
    return ProjectRequest(
        name=given.get("name", project.name),
        description=given.get("description", project.description),
        owner_id=owner_id,
    )


# Any: as above.
def _details(project: Any) -> HttpResponse:
    details: Json = {
        "workspace": project.workspace.slug,
        "slug": project.slug,
        "name": project.name,
        "description": project.description,
        "owner": project.owner and project.owner.username,
        "is_open": project.is_open,
        "is_archived": project.archived_at is not None,
        "created_at": project.created_at,
        "retention_days": project.retention_days,
        "gpu_hour_price": number(project.gpu_hour_price),
        "currency": project.currency,
        "carbon_intensity": number(project.carbon_intensity),
    }
    return json_response(details)


def _project(project: ProjectSummary) -> dict[str, object]:
    return {
        "workspace": project.workspace_slug,
        "slug": project.slug,
        "name": project.name,
        "run_count": project.run_count,
        "running_count": project.running_count,
        "failed_count": project.failed_count,
        "last_activity_at": project.last_activity_at,
    }
