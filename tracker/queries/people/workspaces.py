"""A workspace and its projects, for those who manage it."""

from __future__ import annotations

from tracker.models import Project, Workspace


def projects_of(workspace: Workspace) -> list[Project]:
    """Return all projects of a workspace, by name."""
    projects = Project.objects.filter(workspace=workspace, deleted_at=None)
    return list(projects.order_by("name", "id"))
