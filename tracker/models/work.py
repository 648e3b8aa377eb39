"""Due background work. The row holds the state; a Celery message only wakes a worker."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.run import Run


class WorkKind(models.TextChoices):
    COMPACT = "compact"
    DIAGNOSE = "diagnose"
    PURGE = "purge"


class Work(models.Model):
    """At most one row per run and kind; repeated requests have no effect."""

    run = models.ForeignKey(Run, models.CASCADE)
    kind = models.CharField(max_length=10, choices=WorkKind.choices)
    # When to do it. Cleared when a worker claims it, so that a request during the work
    # schedules it again.
    due_at = models.DateTimeField(null=True)
    # End of the worker's lease, which expires if the worker dies.
    leased_until = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    # The last attempt's error; "" after a success.
    last_error = models.TextField(default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "kind"], name="work_once_per_run")
        ]
        indexes: ClassVar = [
            # Finds due work, and work abandoned by a dead worker.
            models.Index(fields=["due_at"], name="work_due"),
            models.Index(fields=["leased_until"], name="work_leased"),
        ]
