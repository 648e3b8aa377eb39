"""Decides whether a process may join a finished run, and records it.

A finished run is closed to tokens that may only log. Exceptions are processes that
started before it finished and are delivered late, and processes of a new stage, which
both may only add; and processes that resume it as its creator declared.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Max
from django.utils import timezone

from tracker.actions.people.audit import Action, note
from tracker.actor import Actor, Scope
from tracker.errors import RunFinished
from tracker.ingest.messages import Open
from tracker.models import Attribute, Reopening, Run, Stage, State


@dataclass(frozen=True, slots=True)
class Joining:
    """The way in which a process joins a run."""

    is_reopening: bool = False
    # Attributes up to this id are closed to the process; None: all are open.
    closed_attributes: int | None = None
    is_new_stage: bool = False
    makes_resumable: bool = False


def joining_of(run: Run, opening: Open, actor: Actor, *, began_at: datetime) -> Joining:
    """Return how the process joins the run; raise RunFinished if it may not."""
    is_maker = run.made_by_id == actor.user_id
    is_resuming = opening.resume and is_maker
    if run.state != State.FINISHED:
        return Joining(makes_resumable=is_resuming and not run.is_resumable)
    name = opening.stage or "main"
    stages = Stage.objects.filter(run=run)
    if not stages.exists():
        # A parent that was created for its child, and has not logged before.
        return Joining(makes_resumable=is_resuming)
    is_new_stage = not stages.filter(name=name).exists()
    if actor.scope is Scope.MANAGE or (is_resuming and run.is_resumable):
        return Joining(is_reopening=True, is_new_stage=is_new_stage)
    is_late = run.ended_at is not None and began_at <= run.ended_at
    if not is_late and not is_new_stage:
        raise RunFinished(run.name)
    newest = Attribute.objects.filter(run=run).aggregate(id=Max("id"))["id"]
    return Joining(
        is_reopening=True, closed_attributes=newest or 0, is_new_stage=is_new_stage
    )


def note_joining(run: Run, spool_id: UUID, joining: Joining, actor: Actor) -> None:
    if joining.makes_resumable:
        Run.objects.filter(id=run.id).update(is_resumable=True)
    if joining.is_reopening:
        Reopening.objects.bulk_create(
            [
                Reopening(
                    run=run,
                    spool_id=spool_id,
                    user_id=actor.user_id,
                    token_id=actor.token_id,
                    may_change=joining.closed_attributes is None,
                    is_new_stage=joining.is_new_stage,
                    joined_at=timezone.now(),
                )
            ],
            ignore_conflicts=True,
        )
        if joining.closed_attributes is None and not joining.is_new_stage:
            note(
                Action.RUN_REOPENED,
                run.name,
                workspace=run.project.workspace_id,
                by=actor.user_id,
                project=run.project.slug,
                key=actor.token_id,
            )
