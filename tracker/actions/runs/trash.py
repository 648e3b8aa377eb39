"""Moves runs to the trash and back, and marks trashed runs for deletion.

Retention depends on how long a run has been silent; the trash on how long it has been
there. A deleted run is only marked, which hides it permanently; its rows and files
follow in the background (see tracker/actions/runs/purging.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.project_notes import note_change
from tracker.actions.runs.many_runs import RUNS_AT_ONCE
from tracker.actions.shares import end_links
from tracker.actions.work import request_work
from tracker.errors import InvalidInput, NotFound, Pinned
from tracker.models import Project, Run, WorkKind
from tracker.queries.projects.trash import TRASH_DAYS, expired_runs

SHORTEST_RETENTION_DAYS, LONGEST_RETENTION_DAYS = 1, 36_500


def move_to_trash(run: Run, *, now: datetime | None = None) -> None:
    """Hide a run; idempotent."""
    now = now or timezone.now()
    runs = Run.objects.not_in_trash().filter(id=run.id)
    moved = _hide(runs.filter(pinned_at=None), [run.id], now)
    if not moved and runs.exists():
        raise Pinned
    run.refresh_from_db()


def restore(run: Run, *, now: datetime | None = None) -> None:
    """Restore a run; pin it if retention would trash it again at once."""
    now = now or timezone.now()
    with transaction.atomic():
        if not Run.objects.in_trash().filter(id=run.id).update(trashed_at=None):
            raise NotFound("run")
        expired_runs(run.project, now).filter(id=run.id).update(pinned_at=now)
    run.refresh_from_db()


def move_many_to_trash(
    project: Project, run_ids: Sequence[UUID], *, now: datetime | None = None
) -> list[UUID]:
    """Hide runs of a project; return the moved ones. Pinned runs stay."""
    with transaction.atomic():
        shown = Run.objects.not_in_trash().filter(project=project, pinned_at=None)
        moved = _locked(shown, run_ids)
        _hide(Run.objects.all(), moved, now or timezone.now())
    return moved


def restore_many(
    project: Project, run_ids: Sequence[UUID], *, now: datetime | None = None
) -> list[UUID]:
    """Restore runs of a project like `restore`; return the restored ones."""
    now = now or timezone.now()
    with transaction.atomic():
        back = _locked(Run.objects.in_trash().filter(project=project), run_ids)
        Run.objects.filter(id__in=back).update(trashed_at=None)
        expired_runs(project, now).filter(id__in=back).update(pinned_at=now)
    return back


def _hide(runs: QuerySet[Run], run_ids: Sequence[UUID], now: datetime) -> int:
    """Move the selected runs; return their number."""
    with transaction.atomic():
        moved = runs.filter(id__in=run_ids).update(trashed_at=now)
        trashed = Run.objects.in_trash().filter(id__in=run_ids)
        end_links("run", trashed.values_list("id", flat=True), now)
    return moved


def _locked(runs: QuerySet[Run], run_ids: Sequence[UUID]) -> list[UUID]:
    """Return the existing runs, locked in a fixed order to prevent deadlocks."""
    if len(run_ids) > RUNS_AT_ONCE:
        raise InvalidInput("runs", f"must be at most {RUNS_AT_ONCE:,} runs")
    found = runs.filter(id__in=run_ids).order_by("id")
    # Not the key: batches that refer to the runs must not wait.
    found = found.select_for_update(no_key=True)
    return list(found.values_list("id", flat=True))


def pin(run: Run) -> None:
    """Exclude a run from the trash until it is unpinned."""
    runs = Run.objects.not_in_trash().filter(id=run.id, pinned_at=None)
    runs.update(pinned_at=timezone.now())
    run.refresh_from_db()


def unpin(run: Run) -> None:
    Run.objects.filter(id=run.id).update(pinned_at=None)
    run.refresh_from_db()


def set_retention(
    project: Project, days: int | None, audit: AuditContext | None = None
) -> None:
    """Trash runs after this many silent days; None keeps them all."""
    project.retention_days = checked_retention(days)
    with transaction.atomic():
        project.save(update_fields=["retention_days"])
        note_change(project, audit, retention_days=days)


def checked_retention(days: int | None) -> int | None:
    shortest, longest = SHORTEST_RETENTION_DAYS, LONGEST_RETENTION_DAYS
    if days is not None and not shortest <= days <= longest:
        raise InvalidInput(
            "retention_days",
            f"must be {shortest} to {longest}, or empty to keep runs forever",
        )
    return days


def delete_for_good(
    run: Run, audit: AuditContext | None = None, *, now: datetime | None = None
) -> None:
    """Delete a trashed run permanently."""
    with transaction.atomic():
        if not _mark(run.id, now or timezone.now()):
            raise NotFound("run")
        if audit is not None:
            _note_deletion(audit, run.project, run.name, id=str(run.id))


def empty_trash(
    project: Project, audit: AuditContext | None = None, *, now: datetime | None = None
) -> int:
    """Delete all runs in a project's trash; return their number."""
    runs = Run.objects.in_trash().filter(project=project)
    count = _mark_all(list(runs.values_list("id", flat=True)), now or timezone.now())
    if audit is not None and count:
        _note_deletion(audit, project, "all runs in the trash", count=count)
    return count


def move_silent_to_trash(now: datetime | None = None) -> int:
    """Trash runs past their project's retention; return their number."""
    now = now or timezone.now()
    moved = 0
    for project in Project.objects.exclude(retention_days=None):
        expired = expired_runs(project, now)
        while ids := list(expired.values_list("id", flat=True)[:RUNS_AT_ONCE]):
            # Checked again, as a run may have become active or pinned since.
            moved += _hide(expired, ids, now)
    return moved


def delete_expired(now: datetime | None = None) -> int:
    """Delete runs past their time in the trash; return their number."""
    now = now or timezone.now()
    limit = now - timedelta(days=TRASH_DAYS)
    runs = Run.objects.in_trash().filter(trashed_at__lt=limit).order_by("trashed_at")
    return _mark_all(list(runs.values_list("id", flat=True)[:RUNS_AT_ONCE]), now)


def request_purges() -> None:
    """Request work for marked runs, in case its request was lost."""
    marked = Run.objects.exclude(purging_at=None).values_list("id", flat=True)
    for run_id in marked[:RUNS_AT_ONCE]:
        request_work(run_id, WorkKind.PURGE)


# Any: JSON.
def _note_deletion(
    audit: AuditContext, project: Project, target: str, **details: Any
) -> None:
    audit.note(
        Action.RUN_DELETED,
        target,
        project.workspace,
        project=project.slug,
        **details,
    )


def _mark_all(run_ids: list[UUID], now: datetime) -> int:
    marked = 0
    for run_id in run_ids:
        with transaction.atomic():
            marked += _mark(run_id, now)
    return marked


def _mark(run_id: UUID, now: datetime) -> int:
    # Mark the run; its name is free at once for a script that is restarted.
    marked = Run.objects.in_trash().filter(id=run_id)
    count = marked.update(purging_at=now, name=str(run_id))
    if count:
        request_work(run_id, WorkKind.PURGE)
    return count
