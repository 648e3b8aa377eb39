"""Counts runs whose GPU time is not shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q

from tracker.actor import Actor
from tracker.models import Diagnosis, Project, Run
from tracker.queries.diagnoses.time_breakdowns import number_kept


@dataclass(frozen=True, slots=True)
class RunsWithoutGpus:
    """`count` are all runs; `without` are diagnosed runs without a GPU.

    `measured` are runs with GPU time.
    """

    count: int
    without: int
    measured: int

    @property
    def unknown(self) -> int:
        """Return how many runs are not diagnosed yet."""
        return self.count - self.without - self.measured


def runs_without_gpus(project: Project, *, since: datetime | None) -> RunsWithoutGpus:
    return _counted(Q(project=project), since)


def all_runs_without_gpus(actor: Actor, *, since: datetime) -> RunsWithoutGpus:
    """Count over all projects that the actor may read."""
    return _counted(Q(project__in=Project.objects.readable_by(actor)), since)


def _counted(of: Q, since: datetime | None) -> RunsWithoutGpus:
    """Count in one statement."""
    runs = Run.objects.not_in_trash().filter(of)
    if since is not None:
        runs = runs.filter(Q(started_at__gte=since) | Q(started_at=None))
    with_breakdown = Diagnosis.objects.filter(
        run_id=OuterRef("pk"), ledger__isnull=False
    )
    with_gpus = with_breakdown.annotate(gpus=number_kept("gpus")).filter(gpus__gt=0)
    counts = runs.aggregate(
        count=Count("pk"),
        without=Count("pk", filter=Exists(with_breakdown) & ~Exists(with_gpus)),
        measured=Count("pk", filter=Exists(with_gpus)),
    )
    return RunsWithoutGpus(**counts)
