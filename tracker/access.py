"""The only way a view gets an object: together with the permission to see it.

What is absent and what is forbidden look the same.
"""

from __future__ import annotations

from uuid import UUID

from tracker.actor import Actor
from tracker.errors import NotFound
from tracker.models import Ladder, Project, Run


def readable_project(actor: Actor, workspace: str, project: str) -> Project:
    found = (
        Project.objects.readable_by(actor)
        .filter(workspace__slug=workspace, slug=project)
        .select_related("workspace")
        .first()
    )
    if found is None:
        raise NotFound("project")
    return found


def writable_project(actor: Actor, workspace: str, project: str) -> Project:
    found = (
        Project.objects.writable_by(actor)
        .filter(workspace__slug=workspace, slug=project)
        .select_related("workspace")
        .first()
    )
    if found is None:
        raise NotFound("project")
    return found


def readable_run(actor: Actor, run_id: UUID) -> Run:
    run = (
        Run.objects.readable_by(actor)
        .not_in_trash()
        .filter(id=run_id)
        .select_related("project__workspace")
        .first()
    )
    if run is None:
        raise NotFound("run")
    return run


def readable_ladder(actor: Actor, ladder_id: UUID) -> Ladder:
    ladder = (
        Ladder.objects.readable_by(actor)
        .filter(id=ladder_id)
        .select_related("project__workspace")
        .first()
    )
    if ladder is None:
        raise NotFound("ladder")
    return ladder


def writable_ladder(actor: Actor, ladder_id: UUID) -> Ladder:
    ladder = (
        Ladder.objects.writable_by(actor)
        .filter(id=ladder_id)
        .select_related("project__workspace")
        .first()
    )
    if ladder is None:
        raise NotFound("ladder")
    return ladder
