"""A bulk change: what was done to which runs at somebody's request, kept for a while.

Whoever asked makes its name before asking, so that what changed can be undone even where
the answer was lost.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.project import Project


class BulkChange(models.Model):
    """What one transaction of it changed; the last one says that no more will follow."""

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
