"""Checked access to projects, and the permissions that they give.

An absent object and a forbidden one raise the same error.
"""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from django.core.validators import slug_re
from django.db.models import QuerySet

from tracker.actor import Actor, Scope
from tracker.errors import Archived, NotAllowed, NotFound
from tracker.models import (
    Dashboard,
    Ladder,
    Member,
    Project,
    Report,
    Run,
    SavedView,
    Workspace,
)


def readable_project(actor: Actor, workspace: str, project: str) -> Project:
    return _named(Project.objects.readable_by(actor), workspace, project)


def comparable_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return the project whose runs are compared, also for a share link to comparisons."""
    if actor.grant is None:
        return readable_project(actor, workspace, project)
    projects = Project.objects.filter(id=actor.grant.project_id)
    return _named(projects, workspace, project)


def editable_project(actor: Actor, workspace: str, project: str, *, to: str) -> Project:
    """Return a project that the actor may change; `to` completes the error message."""
    found = readable_project(actor, workspace, project)
    if not may_edit(actor, found):
        raise refusal(found, to)
    return found


def owned_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return a project whose retention the actor may change."""
    found = readable_project(actor, workspace, project)
    if not may_own(actor, found):
        raise refusal(found, "change a project's retention")
    return found


def managed_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return a project that the actor may archive, restore or delete."""
    found = readable_project(actor, workspace, project)
    if not may_manage_project(actor, found):
        raise NotAllowed("manage projects")
    return found


def project_beside(actor: Actor, project: Project, slug: str) -> Project:
    """Return a project of the same workspace by its slug."""
    if slug == project.slug:
        return project
    return _named(projects_in_reach(actor, project), project.workspace.slug, slug)


def projects_beside(actor: Actor, project: Project) -> QuerySet[Project]:
    """Return the other projects of the workspace that the actor may read, by name."""
    projects = Project.objects.readable_by(actor).exclude(id=project.id)
    return projects.filter(workspace=project.workspace_id).order_by("name", "id")


def projects_of_workspace(actor: Actor, workspace: Workspace) -> QuerySet[Project]:
    """Return the projects of a workspace that the actor may read, by name."""
    projects = Project.objects.readable_by(actor).filter(workspace=workspace)
    return projects.order_by("name", "id")


def projects_in_reach(actor: Actor, project: Project) -> QuerySet[Project]:
    """Return the workspace's projects that the actor may read, directly or by a link.

    A link may show runs of every project that the user who created it can read.
    """
    projects = Project.objects.filter(workspace=project.workspace_id)
    if actor.grant is None:
        return projects.readable_by(actor)
    return projects.of_link(actor)


def targets_of_moves(actor: Actor, project: Project) -> QuerySet[Project]:
    """Return the projects to which the actor may move runs from this one, by name."""
    projects = Project.objects.writable_by(actor).exclude(id=project.id)
    projects = projects.filter(workspace=project.workspace_id, archived_at=None)
    return projects.select_related("workspace").order_by("name", "id")


def moving_target(actor: Actor, project: Project, target: str) -> Project:
    return _named(targets_of_moves(actor, project), project.workspace.slug, target)


def readable_by_member(user_id: int, project_id: int) -> bool:
    """Return whether the user can read the project without a share link."""
    return Project.objects.readable_by(Actor(user_id)).filter(id=project_id).exists()


def own_membership(actor: Actor, workspace: str) -> Member:
    """Return the actor's membership in a workspace, for which they may create tokens."""
    if not is_slug(workspace):
        raise NotFound("workspace")
    members = Member.objects.active().filter(user_id=actor.user_id)
    member = members.filter(workspace__slug=workspace).first()
    if member is None:
        raise NotFound("workspace")
    return member


def may_comment(actor: Actor) -> bool:
    """Return whether the actor may write comments; visitors by link may not."""
    return actor.grant is None and actor.scope is Scope.MANAGE


def may_edit(actor: Actor, project: Project) -> bool:
    """Return whether the actor may change shared content of the project."""
    return (
        actor.scope is Scope.MANAGE
        and project.archived_at is None
        and Project.objects.writable_by(actor).filter(id=project.id).exists()
    )


def may_own(actor: Actor, project: Project) -> bool:
    """Return whether the actor may do irreversible things in the project."""
    return project.archived_at is None and may_manage_project(actor, project)


def may_manage_project(actor: Actor, project: Project) -> bool:
    """Return whether the actor may archive, restore or delete the project."""
    return (
        actor.scope is Scope.MANAGE
        and Project.objects.managed_by(actor).filter(id=project.id).exists()
    )


def refusal(project: Project, to: str) -> NotAllowed:
    """Return the error for a missing permission; `to` completes its message."""
    return NotAllowed(to) if project.archived_at is None else Archived()


# A model with a project.
Thing = TypeVar("Thing", Dashboard, Ladder, Report, Run, SavedView)


def loaded(things: QuerySet[Thing], thing_id: UUID, what: str) -> Thing:
    """Return the object with this id and its project; raise NotFound if absent."""
    found = things.filter(id=thing_id).select_related("project__workspace").first()
    if found is None:
        raise NotFound(what)
    return found


def _named(projects: QuerySet[Project], workspace: str, project: str) -> Project:
    if not (is_slug(workspace) and is_slug(project)):
        raise NotFound("project")
    named = projects.filter(workspace__slug=workspace, slug=project)
    found = named.select_related("workspace").first()
    if found is None:
        raise NotFound("project")
    return found


def is_slug(text: str) -> bool:
    """Return whether the text is a slug; PostgreSQL rejects NUL in unchecked input."""
    return slug_re.fullmatch(text) is not None
