"""Annotations of a run's charts, and arrangements of a project's charts."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from tracker.models.deletion import Deletable, KeptManager, index_of_deleted
from tracker.models.project import Project
from tracker.models.run import Run


class Annotation(Deletable):
    """A text at a step of a series, with its author and time."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="annotations")
    path = models.TextField()
    # The annotated point; its time is stored for charts over time.
    step = models.FloatField()
    time = models.DateTimeField()
    text = models.CharField(max_length=1_000)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    written_at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True)

    objects: ClassVar = KeptManager["Annotation"]()
    with_deleted: ClassVar = models.Manager["Annotation"]()

    class Meta:
        indexes: ClassVar = [index_of_deleted("annotation_deleted")]

    def __str__(self) -> str:
        return self.text


class ChartArrangement(models.Model):
    """A user's arrangement of the charts of a project's runs."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    # As web/pages/charts/arrangement.py describes it.
    body = models.JSONField(default=dict)
    changed_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "user"], name="chart_arrangement_once_per_user"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.project}"
