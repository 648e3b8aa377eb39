"""The run summary: values computed from many rows of a run."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.project import Project
from tracker.models.run import Run
from tracker.models.set_index import SetIndex

# Sort key length of tags; a whole set would not fit into an index.
SORTED_CHARACTERS = 100


def _found_by(name: str, *more: str) -> models.Index:
    """Return an index of a project's runs in the order of a column."""
    return models.Index(
        fields=["project", name, *more, "run"],
        condition=models.Q((f"{name}__isnull", False)),
        name=f"summary_{name}",
    )


class RunSummary(models.Model):
    """Columns of the runs table other than attributes, for display, filters and
    sorting.

    Derived from other rows and updated in the same transaction, only by
    tracker.actions.runs.run_summaries. Unknown values are None.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="summary")
    # Copied from the run, as in attributes.
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    created_at = models.DateTimeField()

    # Mean utilization of the hardware, in percent.
    gpu = models.FloatField(null=True)
    cpu = models.FloatField(null=True)
    # From the time breakdowns: idle percentage of GPU time, GPU hours, joules.
    gpu_idle = models.FloatField(null=True)
    gpu_hours = models.FloatField(null=True)
    energy = models.FloatField(null=True)
    # The main finding: severity and title.
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
                name="summary_tags",
            ),
        ]
