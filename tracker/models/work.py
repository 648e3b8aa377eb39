"""Background work that is due. The row is the truth; a Celery message only wakes."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.run import Run


class WorkKind(models.TextChoices):
    COMPACT = "compact"
    DIAGNOSE = "diagnose"


class Work(models.Model):
    """At most one row per run and kind; asking twice before it is done is asking once."""

    run = models.ForeignKey(Run, models.CASCADE)
    kind = models.CharField(max_length=10, choices=WorkKind.choices)
    # When to do it; None when nothing is asked for.
    due_at = models.DateTimeField(null=True)
    # Counts the requests, so that one that comes while work is under way is not lost.
    requested = models.PositiveBigIntegerField(default=0)
    # Until when one worker has it; a worker that dies lets it expire.
    leased_until = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.TextField(default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "kind"], name="work_once_per_run")
        ]
        indexes: ClassVar = [
            # The sweeper looks for what is due.
            models.Index(fields=["due_at"], name="work_due"),
        ]
