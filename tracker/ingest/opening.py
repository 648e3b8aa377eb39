"""Finds or creates the project, run, stage and spool that a spool's first message
names.

Every row is created by an insert that ignores conflicts, so any number of processes may
open the same run at once.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.utils import timezone

from tracker.actions.found_projects import find_or_make_project, project_named
from tracker.actions.runs.parents import set_parent
from tracker.actor import Actor
from tracker.errors import NotAllowed, NotFound
from tracker.ingest.joining import joining_of, note_joining
from tracker.ingest.launches import run_for
from tracker.ingest.messages import Open
from tracker.models import (
    Project,
    Run,
    Spool,
    Stage,
    Workspace,
)
from tracker.models.workspace import WRITING

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def open_spool(
    workspace: Workspace, spool_id: UUID, opening: Open, *, actor: Actor
) -> None:
    """Create the spool and the objects it names; raise RunFinished for a closed run."""
    if opening.workspace not in (None, workspace.slug):
        raise NotFound("workspace")
    project = _loggable_project(workspace, opening.project, actor)
    started_at = from_microseconds(opening.time)
    began_at = from_microseconds(
        opening.time if opening.began is None else opening.began
    )
    run = run_for(project, opening, actor.user_id, began_at=began_at)
    if opening.parent is not None:
        set_parent(run, opening.parent, actor.user_id, started_at=started_at)
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
    """Return the project to log to; create it if it is missing and the actor may."""
    project = project_named(workspace, name)
    if project is None and _may_create_projects(workspace, actor):
        project = find_or_make_project(workspace, name, actor.user_id)
    writable = Project.objects.writable_by(actor)
    if project is None or not writable.filter(id=project.id).exists():
        # The same message in both cases: it must not reveal whether the project exists.
        raise NotAllowed(f"log to the project {name!r}")
    if project.archived_at is not None:
        raise NotAllowed(f"log to the project {name!r}, which is archived")
    return project


def _may_create_projects(workspace: Workspace, actor: Actor) -> bool:
    creators = Workspace.objects.of_user(actor.user_id, *WRITING)
    return actor.project_ids is None and creators.filter(id=workspace.id).exists()


def from_microseconds(time: int) -> datetime:
    # Not fromtimestamp, which converts to float and loses microseconds.
    return EPOCH + timedelta(microseconds=time)


def _find_or_make_stage(run: Run, name: str) -> Stage:
    Stage.objects.bulk_create([Stage(run=run, name=name)], ignore_conflicts=True)
    return Stage.objects.get(run=run, name=name)
