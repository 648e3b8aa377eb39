"""The projects the caller may read."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpResponse
from ninja import Router, Schema

from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.queries.projects import ProjectSummary, project_summaries

router = Router(tags=["projects"], auth=ReaderAuth())


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


@router.get("/projects", response=ProjectsOut)
def read_projects(request: ApiRequest) -> HttpResponse:
    """All projects, the one with the newest activity first."""
    projects = project_summaries(request.auth)
    return json_response({"projects": [_project(project) for project in projects]})


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
