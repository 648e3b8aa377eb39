"""A ladder: an ordered sequence of runs that optimize the same job."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.db import models

from tracker.actor import Actor
from tracker.models.deletion import Deletable, KeptManager, index_of_deleted
from tracker.models.project import Project
from tracker.models.run import Run


class LadderQuerySet(models.QuerySet["Ladder"]):
    def readable_by(self, actor: Actor) -> Self:
        if actor.grant is not None:
            return self.filter(
                project_id=actor.grant.project_id, id__in=actor.grant.of("ladder")
            )
        return self.filter(project__in=Project.objects.readable_by(actor))


class Ladder(Deletable):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="ladders")
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = KeptManager.from_queryset(LadderQuerySet)()
    with_deleted = LadderQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "name"],
                condition=models.Q(deleted_at=None),
                name="ladder_name_once_per_project",
            )
        ]
        indexes: ClassVar = [index_of_deleted("ladder_deleted")]

    def __str__(self) -> str:
        return self.name


class RungQuerySet(models.QuerySet["Rung"]):
    def shown(self) -> Self:
        """Return steps whose ladder and run are not in the trash."""
        return self.filter(ladder__deleted_at=None, run__trashed_at=None)


class Rung(models.Model):
    """One step of a ladder; the first is the baseline."""

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="rungs")
    run = models.ForeignKey(Run, models.CASCADE, related_name="rungs")
    position = models.PositiveIntegerField()
    # The change since the previous step.
    note = models.TextField(default="")

    objects = RungQuerySet.as_manager()

    class Meta:
        ordering = ("position",)
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["ladder", "run"], name="rung_once_per_ladder"
            )
        ]
