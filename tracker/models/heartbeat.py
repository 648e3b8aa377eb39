"""The last heartbeat of each kind of background process."""

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
    # By the database's clock, so that clock skew between machines does not matter.
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.role
