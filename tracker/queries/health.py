"""Whether this installation is operational."""

from __future__ import annotations

from datetime import timedelta

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.models import Min, Q
from django.db.models.functions import Now
from django.utils import timezone

from tracker.models import Heartbeat, ProcessRole, Work
from tracker.queries.backlog import COMPACTED_AFTER, read_backlog

# Three heartbeats.
MISSING_AFTER = timedelta(seconds=45)


def has_current_schema() -> bool:
    """Return whether every migration of this code is applied to the database."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def unknown_migrations() -> list[str]:
    """Return the migrations that newer code has applied to the database."""
    loader = MigrationLoader(connection)
    known = set(loader.disk_migrations)
    for migration in loader.disk_migrations.values():
        known.update(migration.replaces)
    unknown = set(loader.applied_migrations or ()) - known
    return sorted(
        f"{app}.{name}" for app, name in unknown if app in loader.migrated_apps
    )


def missing_processes() -> list[ProcessRole]:
    """Return the roles without a recent heartbeat of any process."""
    rows = Heartbeat.objects.values_list("role", "beat_at", Now())
    alive = {role for role, beat_at, now in rows if now - beat_at < MISSING_AFTER}
    return [role for role in ProcessRole if role not in alive]


def work_lag_seconds() -> float:
    """Return the age of the oldest due work: large if no worker processes it.

    Failed work is not due before its next attempt. Points wait in the journal until their
    scheduled compaction.
    """
    now = timezone.now()
    waiting = Work.objects.filter(Q(leased_until=None) | Q(leased_until__lt=now))
    oldest = waiting.filter(due_at__lte=now).aggregate(oldest=Min("due_at"))["oldest"]
    lag_seconds = (now - oldest).total_seconds() if oldest else 0.0
    return max(lag_seconds, read_backlog().seconds - COMPACTED_AFTER.total_seconds())
