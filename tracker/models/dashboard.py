"""A dashboard: a grid of widgets about runs of one project."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.conf import settings
from django.db import models

from tracker.actor import Actor
from tracker.models.deletion import Deletable, KeptManager, index_of_deleted
from tracker.models.project import Project


class DashboardQuerySet(models.QuerySet["Dashboard"]):
    def readable_by(self, actor: Actor) -> Self:
        if actor.grant is not None:
            return self.filter(
                project_id=actor.grant.project_id, id__in=actor.grant.of("dashboard")
            )
        return self.filter(project__in=Project.objects.readable_by(actor))


class Dashboard(Deletable):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="dashboards")
    name = models.CharField(max_length=200)
    # A tracker.boards.board.Board.
    content = models.JSONField(default=dict)
    # Changes must name the version that they are based on.
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now_add=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )

    objects = KeptManager.from_queryset(DashboardQuerySet)()
    with_deleted = DashboardQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "name"],
                condition=models.Q(deleted_at=None),
                name="dashboard_name_once_per_project",
            )
        ]
        indexes: ClassVar = [index_of_deleted("dashboard_deleted")]

    def __str__(self) -> str:
        return self.name
