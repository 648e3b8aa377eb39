"""Moves runs to another project of the workspace. A run keeps its id and address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from tracker.actions.names import free_name
from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.shares import end_links
from tracker.errors import InvalidInput
from tracker.models import (
    Alert,
    Attribute,
    Follow,
    MetricRule,
    Notification,
    Project,
    Run,
    Rung,
    RunSummary,
    State,
)

MAX_NAME = 255
MAX_RUNS = 500
# Tables that repeat the project of their run.
TABLES: tuple[type[Model], ...] = (
    Attribute,
    RunSummary,
    Alert,
    Follow,
    MetricRule,
    Notification,
)


@dataclass(frozen=True, slots=True)
class Stayed:
    """A run that could not be moved, with the reason."""

    run_id: UUID
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Moved:
    moved: list[UUID]
    stayed: list[Stayed]


def move_run(
    run: Run, target: Project, audit: AuditContext, *, renames: bool = False
) -> None:
    """Move an ended run; end its share links and remove it from its ladders.

    If its name is taken in the target, `renames` appends a number; otherwise the move
    fails.
    """
    if target.workspace_id != run.project.workspace_id or target.id == run.project_id:
        raise InvalidInput("project", "must be another project of the workspace")
    with transaction.atomic():
        # Batches lock the run's row too, so none writes rows of the old project.
        found = Run.objects.select_for_update(no_key=True).get(id=run.id)
        if found.state == State.RUNNING:
            raise InvalidInput("the run", "is running; move it once it has ended")
        found.name = _name_in(target, found.name, renames=renames)
        found.project, found.parent = target, None
        found.save(update_fields=["name", "project", "parent"])
        for table in TABLES:
            rows = table._default_manager  # noqa: SLF001 - documented by Django
            rows.filter(run=run.id).update(project=target)
        # Readers of the old project may lack access to the new one.
        Run.objects.filter(parent=run.id).update(parent=None)
        Rung.objects.filter(run=run.id).delete()
        end_links("run", [run.id], timezone.now())
        audit.note(
            Action.RUNS_MOVED,
            run.name,
            target.workspace,
            moved_from=run.project.slug,
            moved_to=target.slug,
            name=found.name,
        )


def move_runs(
    project: Project,
    run_ids: Sequence[UUID],
    target: Project,
    audit: AuditContext,
    *,
    renames: bool = False,
) -> Moved:
    """Move runs of a project one by one; runs that cannot move stay."""
    if len(run_ids) > MAX_RUNS:
        raise InvalidInput("runs", f"must be at most {MAX_RUNS:,} runs")
    shown = Run.objects.filter(project=project).not_in_trash()
    found = shown.select_related("project").in_bulk(run_ids)
    done = Moved([], [])
    for run_id in run_ids:
        run = found.get(run_id)
        if run is None:
            continue
        try:
            move_run(run, target, audit, renames=renames)
        except InvalidInput as error:
            done.stayed.append(Stayed(run_id, run.name, str(error)))
        else:
            done.moved.append(run_id)
    return done


def _name_in(target: Project, name: str, *, renames: bool) -> str:
    taken = Run.objects.filter(project=target)
    if not taken.filter(name=name).exists():
        return name
    if not renames:
        raise InvalidInput("name", f"is taken by a run of {target.name}")
    alike = taken.filter(name__startswith=name[:200]).values_list("name", flat=True)
    return free_name(name, set(alike), MAX_NAME, lambda number: f" ({number + 1})")
