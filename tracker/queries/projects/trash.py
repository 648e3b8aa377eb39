"""The contents of a project's trash, and when they are deleted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from tracker.models import Project, Run, State

# Runs, ladders, dashboards, reports and views can be restored for this long.
TRASH_DAYS = 30
# Annotations and comments can be restored for this long, only from the notification.
UNDO_HOURS = 24


@dataclass(frozen=True, slots=True)
class TrashedRun:
    id: UUID
    name: str
    state: str
    last_seen_at: datetime
    trashed_at: datetime

    @property
    def deleted_after(self) -> datetime:
        return kept_until(self.trashed_at)


@dataclass(frozen=True, slots=True)
class TrashPage:
    """A page of runs, the last trashed first; runs that are being deleted are counted."""

    total: int
    being_deleted: int
    runs: list[TrashedRun]


def kept_until(hidden_at: datetime) -> datetime:
    """Return when an object that was moved to the trash at a time is deleted."""
    return hidden_at + timedelta(days=TRASH_DAYS)


def trash_page(project: Project, *, offset: int, limit: int) -> TrashPage:
    trashed = Run.objects.in_trash().filter(project=project)
    some = trashed.order_by("-trashed_at", "id")[offset : offset + limit]
    being_deleted = Run.objects.filter(project=project, purging_at__isnull=False)
    return TrashPage(
        total=trashed.count(),
        being_deleted=being_deleted.count(),
        runs=[
            TrashedRun(run.id, run.name, run.state, run.last_seen_at, run.trashed_at)
            for run in some
            if run.trashed_at is not None
        ],
    )


def expired_runs(project: Project, now: datetime) -> QuerySet[Run]:
    """Return the runs whose retention period has passed since their last data."""
    if project.retention_days is None:
        return Run.objects.none()
    limit = now - timedelta(days=project.retention_days)
    silent = Run.objects.not_in_trash().filter(project=project, last_seen_at__lt=limit)
    return silent.filter(pinned_at=None).exclude(state=State.RUNNING)


def expired_count(project: Project) -> int:
    """Return how many runs the next retention check moves to the trash."""
    return expired_runs(project, timezone.now()).count()
