"""Finds or makes what the first message of a spool names: project, run, stage, spool.

Every row is made by an insert that gives way to one that is there already, so any
number of processes may open the same run at the same moment.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.utils import timezone
from django.utils.text import slugify

from tracker.actor import Actor
from tracker.errors import NotAllowed, NotFound
from tracker.ingest.joining import joining_of, note_joining
from tracker.ingest.messages import Open
from tracker.models import (
    Member,
    Project,
    ProjectMember,
    Role,
    Run,
    Spool,
    Stage,
    Workspace,
)
from tracker.models.workspace import WRITING

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SLUG_LENGTH = 180
MARK_LENGTH = 8
# Of these, a slug changes only the case and the spaces.
FAITHFUL = re.compile(r"[A-Za-z0-9 _-]+")


def open_spool(
    workspace: Workspace, spool_id: UUID, opening: Open, *, actor: Actor
) -> None:
    """Make the spool, and what its opening names; raise RunFinished if that is closed."""
    if opening.workspace not in (None, workspace.slug):
        raise NotFound("workspace")
    project = _loggable_project(workspace, opening.project, actor)
    run = _find_or_make_run(project, opening.run, actor.user_id)
    started_at = from_microseconds(opening.time)
    began_at = from_microseconds(
        opening.time if opening.began is None else opening.began
    )
    joining = joining_of(run, opening, actor, began_at=began_at)
    stage = _find_or_make_stage(run, opening.stage or "main")
    Spool.objects.bulk_create(
        [
            Spool(
                id=spool_id,
                run=run,
                stage=stage,
                rank=opening.rank,
                host=opening.host,
                process_id=opening.pid,
                is_helper=opening.helper,
                closed_attributes=joining.closed_attributes,
                agent_version=opening.agent,
                started_at=started_at,
                last_seen_at=timezone.now(),
            )
        ],
        ignore_conflicts=True,
    )
    note_joining(run, spool_id, joining, actor)


def _loggable_project(workspace: Workspace, name: str, actor: Actor) -> Project:
    """Return the project to log to, making it if there is none and the actor may."""
    project = _named(workspace, name)
    if project is None and _may_create_projects(workspace, actor):
        project = find_or_make_project(workspace, name, actor.user_id)
    writable = Project.objects.writable_by(actor)
    if project is None or not writable.filter(id=project.id).exists():
        # The same words for both: whether there is one is not for everybody to know.
        raise NotAllowed(f"log to the project {name!r}")
    if project.archived_at is not None:
        raise NotAllowed(f"log to the project {name!r}, which is archived")
    return project


def _may_create_projects(workspace: Workspace, actor: Actor) -> bool:
    creators = Workspace.objects.of_user(actor.user_id, *WRITING)
    return actor.project_ids is None and creators.filter(id=workspace.id).exists()


def find_or_make_project(workspace: Workspace, name: str, user_id: int) -> Project:
    """Return the project of that name or slug, making it if there is none."""
    found = _named(workspace, name)
    if found is not None:
        return found

    for slug in possible_slugs(name):
        new = Project(
            workspace=workspace,
            name=name,
            slug=slug,
            owner_id=user_id,
            is_open=workspace.projects_are_open,
            retention_days=workspace.retention_days,
            gpu_hour_price=workspace.gpu_hour_price,
            currency=workspace.currency,
        )
        Project.objects.bulk_create([new], ignore_conflicts=True)
        made = Project.objects.filter(workspace=workspace, slug=slug, name=name).first()
        if made is not None:
            if made.owner_id == user_id and not made.is_open:
                _let_in(made, user_id)
            return made
    raise NotFound("project")


def _named(workspace: Workspace, name: str) -> Project | None:
    projects = Project.objects.filter(workspace=workspace)
    return projects.filter(name=name).first() or projects.filter(slug=name).first()


def _let_in(project: Project, user_id: int) -> None:
    """Give whoever made a closed project a role in it."""
    member = Member.objects.get(workspace_id=project.workspace_id, user_id=user_id)
    ProjectMember.objects.bulk_create(
        [ProjectMember(project=project, member=member, role=Role.ADMIN)],
        ignore_conflicts=True,
    )


def possible_slugs(name: str) -> Iterator[str]:
    """Yield a readable slug if it says the whole name, then one no other name has."""
    readable = slugify(name)[:SLUG_LENGTH].strip("-_")
    # A slug also finds its project; that of C++ must not be what people call C.
    if readable and len(name) <= SLUG_LENGTH and FAITHFUL.fullmatch(name):
        yield readable
    mark = hashlib.sha256(name.encode()).hexdigest()[:MARK_LENGTH]
    yield f"{readable or 'project'}-{mark}"


def from_microseconds(time: int) -> datetime:
    # Not fromtimestamp: it goes through a float and would lose microseconds.
    return EPOCH + timedelta(microseconds=time)


def _find_or_make_run(project: Project, name: str, user_id: int) -> Run:
    made = Run(project=project, name=name, made_by_id=user_id)
    Run.objects.bulk_create([made], ignore_conflicts=True)
    run = Run.objects.get(project=project, name=name)
    if run.trashed_at is not None:
        raise NotFound("run")
    return run


def _find_or_make_stage(run: Run, name: str) -> Stage:
    Stage.objects.bulk_create([Stage(run=run, name=name)], ignore_conflicts=True)
    return Stage.objects.get(run=run, name=name)
