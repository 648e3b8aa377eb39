"""A bulk change of runs, recorded for a while.

The client chooses its name beforehand, so that the change can be undone even if the
response was lost.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.project import Project


class BulkChange(models.Model):
    """The runs changed by one transaction; the last row marks the end."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    name = models.UUIDField()
    run_ids = models.JSONField(default=list)
    is_last = models.BooleanField(default=False)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["project", "name"], name="bulk_change_name"),
            models.Index(fields=["made_at"], name="bulk_change_made"),
        ]

    def __str__(self) -> str:
        return str(self.name)
