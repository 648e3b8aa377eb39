"""Soft deletion: deleted rows are kept for a while so that they can be restored.

`objects` excludes deleted rows; `with_deleted` is for the trash and for undo. Deleted
comments with answers stay visible as placeholders.
"""

from __future__ import annotations

from typing import TypeVar

from django.conf import settings
from django.db import models

Row = TypeVar("Row", bound=models.Model)


class KeptManager(models.Manager[Row]):
    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().filter(deleted_at=None)


class Deletable(models.Model):
    """A row that is hidden when it is deleted, and purged later."""

    deleted_at = models.DateTimeField(null=True)
    deleted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )

    class Meta:
        abstract = True


def index_of_deleted(name: str) -> models.Index:
    """Return an index of the few deleted rows, for purging."""
    return models.Index(
        fields=["deleted_at"],
        condition=models.Q(deleted_at__isnull=False),
        name=name,
    )
