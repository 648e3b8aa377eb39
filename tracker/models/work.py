"""Background work that is due. The row is the truth; a Celery message only wakes."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.run import Run


class WorkKind(models.TextChoices):
    COMPACT = "compact"
    DIAGNOSE = "diagnose"
    PURGE = "purge"


class Work(models.Model):
    """At most one row per run and kind; asking twice before it is done is asking once."""

    run = models.ForeignKey(Run, models.CASCADE)
    kind = models.CharField(max_length=10, choices=WorkKind.choices)
    # When to do it. Emptied when a worker takes it up, so that a request that comes
    # while the work is under way is one for doing it again.
    due_at = models.DateTimeField(null=True)
    # Until when one worker has it; a worker that dies lets it expire.
    leased_until = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    # Why the last attempt failed; "" after one that did not.
    last_error = models.TextField(default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "kind"], name="work_once_per_run")
        ]
        indexes: ClassVar = [
            # The sweeper looks for what is due, and for what a dead worker left.
            models.Index(fields=["due_at"], name="work_due"),
            models.Index(fields=["leased_until"], name="work_leased"),
        ]
