"""What many rows of a run say together, kept in one."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.project import Project
from tracker.models.run import Run
from tracker.models.set_index import SetIndex

# So much of the tags decides where they stand; a whole set would fit no index.
SORTED_CHARACTERS = 100


def _found_by(name: str, *more: str) -> models.Index:
    """Return an index that has the runs of a project in the order of a column."""
    return models.Index(
        fields=["project", name, *more, "run"],
        condition=models.Q((f"{name}__isnull", False)),
        name=f"gathered_{name}",
    )


class Gathered(models.Model):
    """What columns of a runs table show, find and sort by, beside attributes.

    It follows from the rows it is gathered from, and changes in the same transaction:
    tracker.actions.gathering writes it, and nobody else. What is not known is None.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="gathered")
    # The run's, as of attributes.
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    created_at = models.DateTimeField()

    # How busy the hardware was, in percent.
    gpu = models.FloatField(null=True)
    cpu = models.FloatField(null=True)
    # What ledgers say of GPUs: percent of the time they were held, hours, joules.
    gpu_idle = models.FloatField(null=True)
    gpu_hours = models.FloatField(null=True)
    energy = models.FloatField(null=True)
    # The main finding: how bad it is, and its title.
    severity = models.PositiveSmallIntegerField(null=True)
    finding = models.CharField(max_length=300, null=True)
    stages = models.PositiveIntegerField(null=True)
    tags = models.JSONField(null=True)
    # As JSON.
    tags_beginning = models.CharField(max_length=SORTED_CHARACTERS, null=True)

    class Meta:
        indexes: ClassVar = [
            *map(_found_by, ("gpu", "cpu", "gpu_idle", "gpu_hours", "energy")),
            _found_by("severity", "created_at"),
            _found_by("stages", "created_at"),
            *map(_found_by, ("finding", "tags_beginning")),
            SetIndex(
                fields=["project", "run", "tags"],
                condition=models.Q(tags__isnull=False),
                name="gathered_tags",
            ),
        ]
