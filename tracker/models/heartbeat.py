"""When each kind of background process last reported that it runs."""

from __future__ import annotations

from django.db import models


class ProcessRole(models.TextChoices):
    WORKER = "worker"
    SCHEDULER = "scheduler"


class Heartbeat(models.Model):
    """One row per role, which all processes of that role update."""

    role = models.CharField(
        max_length=10, choices=ProcessRole.choices, primary_key=True
    )
    # By the database's clock, so that machines need not agree on the time.
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.role
