"""Creates, renames, archives and deletes projects."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from tracker.actions.found_projects import find_or_make_project, let_maker_in
from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.project_notes import note_change
from tracker.actions.runs.many_runs import RUNS_AT_ONCE
from tracker.actions.work import request_work
from tracker.errors import InvalidInput
from tracker.models import Member, Project, Run, WorkKind, Workspace
from tracker.texts import storable_part

NAME_LENGTH, DESCRIPTION_LENGTH = 200, 2_000


@dataclass(frozen=True, slots=True)
class ProjectRequest:
    name: str
    description: str = ""
    # The responsible user; None: no owner.
    owner_id: int | None = None


def create_project(
    workspace: Workspace, request: ProjectRequest, audit: AuditContext, *, is_open: bool
) -> Project:
    name, description = _texts(request)
    with transaction.atomic():
        _require_free(workspace, name)
        project = find_or_make_project(workspace, name, audit.user_id or 0)
        project.description, project.is_open = description, is_open
        project.save(update_fields=["description", "is_open"])
        if not is_open and audit.user_id is not None:
            let_maker_in(project, audit.user_id)
        audit.note(Action.PROJECT_CREATED, name, workspace, is_open=is_open)
    return project


def change_project(
    project: Project, request: ProjectRequest, audit: AuditContext
) -> None:
    """Change name, description and owner. The slug stays, so that links keep working."""
    name, description = _texts(request)
    members = Member.objects.filter(workspace=project.workspace_id)
    owner_id = request.owner_id
    if owner_id is not None and not members.filter(user_id=owner_id).exists():
        raise InvalidInput("owner", "must be a member of the workspace")
    before = {"name": project.name} if name != project.name else {}
    with transaction.atomic():
        if before:
            _require_free(project.workspace, name, but=project)
        project.name, project.description = name, description
        project.owner_id = owner_id
        project.save(update_fields=["name", "description", "owner"])
        note_change(project, audit, before=before, owner=owner_id)


def archive_project(project: Project, audit: AuditContext) -> None:
    """Make a project read-only; nothing can be logged to it or changed in it."""
    with transaction.atomic():
        open_ones = Project.objects.filter(id=project.id, archived_at=None)
        if open_ones.update(archived_at=timezone.now()):
            audit.note(Action.PROJECT_ARCHIVED, project, project.workspace)


def restore_project(project: Project, audit: AuditContext) -> None:
    with transaction.atomic():
        archived = Project.objects.filter(id=project.id, archived_at__isnull=False)
        if archived.update(archived_at=None):
            audit.note(Action.PROJECT_RESTORED, project, project.workspace)


def delete_project(project: Project, audit: AuditContext) -> None:
    """Hide a project permanently; its runs and rows are deleted in the background."""
    now, name = timezone.now(), project.name
    with transaction.atomic():
        # Its name and slug are available at once.
        freed = f"deleted-{uuid4().hex}"
        kept = Project.objects.filter(id=project.id, deleted_at=None)
        deleted = kept.update(deleted_at=now, archived_at=now, name=freed, slug=freed)
        if deleted:
            runs = Run.objects.filter(project=project, purging_at=None).count()
            audit.note(Action.PROJECT_DELETED, name, project.workspace, runs=runs)


def purge_deleted_projects() -> None:
    """Delete the next runs of deleted projects, and projects without any."""
    for project in Project.objects.exclude(deleted_at=None):
        runs = Run.objects.filter(project=project)
        if not runs.exists():
            project.delete()
            continue
        kept = runs.filter(purging_at=None).values_list("id", flat=True)
        for run_id in kept[:RUNS_AT_ONCE]:
            with transaction.atomic():
                now = timezone.now()
                Run.objects.filter(id=run_id).update(trashed_at=now, purging_at=now)
                request_work(run_id, WorkKind.PURGE)


def _texts(request: ProjectRequest) -> tuple[str, str]:
    name = " ".join(storable_part(request.name).split())
    if not 1 <= len(name) <= NAME_LENGTH:
        raise InvalidInput("name", f"must have 1 to {NAME_LENGTH} characters")
    description = storable_part(request.description).strip()
    if len(description) > DESCRIPTION_LENGTH:
        raise InvalidInput(
            "description", f"may have at most {DESCRIPTION_LENGTH:,} characters"
        )
    return name, description


def _require_free(
    workspace: Workspace, name: str, *, but: Project | None = None
) -> None:
    """Raise InvalidInput if scripts would find another project by this name."""
    # Concurrent requests may use the same name.
    Workspace.objects.select_for_update(no_key=True).get(id=workspace.id)
    others = Project.objects.filter(workspace=workspace)
    if but is not None:
        others = others.exclude(id=but.id)
    if others.filter(name=name).exists() or others.filter(slug=name).exists():
        raise InvalidInput("name", "is taken by another project of the workspace")
