"""What lies in a project's trash, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from tracker.models import Project, Run, State

# A run can be brought back for so long, and so can what people make of runs.
TRASH_DAYS = 30
# What people write at charts and about reports: by the toast alone.
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
    """Some of the runs, the one trashed last first; those being deleted are counted."""

    total: int
    being_deleted: int
    runs: list[TrashedRun]


def kept_until(hidden_at: datetime) -> datetime:
    """Return when what was moved to the trash at a time is deleted for good."""
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
    """Return the runs that have been silent for longer than the project keeps them."""
    if project.retention_days is None:
        return Run.objects.none()
    limit = now - timedelta(days=project.retention_days)
    silent = Run.objects.not_in_trash().filter(project=project, last_seen_at__lt=limit)
    return silent.filter(pinned_at=None).exclude(state=State.RUNNING)


def expired_count(project: Project) -> int:
    """Return how many runs the next look at retention moves to the trash."""
    return expired_runs(project, timezone.now()).count()
