"""Rows of the server's own processes: heartbeats, due work, outgoing mail, the cache.

A row of work holds the state; a Celery message only wakes a worker.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.run import Run


class ProcessRole(models.TextChoices):
    WORKER = "worker"
    SCHEDULER = "scheduler"


class Heartbeat(models.Model):
    """One row per role, which all processes of that role update."""

    role = models.CharField(
        max_length=10, choices=ProcessRole.choices, primary_key=True
    )
    # By the database's clock, so that clock skew between machines does not matter.
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.role


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


class Mail(models.Model):
    """Kept for a while after it was sent or given up."""

    to = models.EmailField()
    subject = models.CharField(max_length=300)
    text = models.TextField()
    html = models.TextField(default="")
    created_at = models.DateTimeField(auto_now_add=True)
    # When to send it next; empty once it was sent or given up.
    due_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.TextField(default="")

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(due_at__isnull=False),
                name="mail_due",
            )
        ]

    def __str__(self) -> str:
        return f"{self.subject} to {self.to}"


class CacheEntry(models.Model):
    """The columns that django.core.cache.backends.db expects."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.cache_key
