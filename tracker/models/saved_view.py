"""A saved view: the state of a runs table under a name."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.conf import settings
from django.db import models

from tracker.actor import Actor
from tracker.models.deletion import Deletable, KeptManager, index_of_deleted
from tracker.models.project import Project


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    def readable_by(self, actor: Actor) -> Self:
        """Return the actor's own views, and shared ones in readable projects."""
        return self.filter(
            models.Q(is_shared=True) | models.Q(owner_id=actor.user_id),
            project__in=Project.objects.readable_by(actor),
        )


class SavedView(Deletable):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="views", db_index=False
    )
    # A shared view outlives the account of its creator.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    name = models.CharField(max_length=100)
    is_shared = models.BooleanField(default=False)
    # The view with which the project's runs page opens.
    is_default = models.BooleanField(default=False)
    # The query string of the table's address.
    state = models.TextField(default="")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = KeptManager.from_queryset(SavedViewQuerySet)()
    with_deleted = SavedViewQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "owner", "name"],
                condition=models.Q(deleted_at=None),
                name="view_name_once_per_owner",
            ),
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(is_default=True, deleted_at=None),
                name="view_default_once_per_project",
            ),
            models.CheckConstraint(
                condition=models.Q(is_default=False) | models.Q(is_shared=True),
                name="view_default_is_shared",
            ),
        ]
        indexes: ClassVar = [index_of_deleted("view_deleted")]

    def __str__(self) -> str:
        return self.name
