"""The projects of a user, and the activity in each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Max, Q

from tracker.actor import Actor
from tracker.models import Project, State


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    name: str
    slug: str
    workspace_name: str
    workspace_slug: str
    run_count: int
    running_count: int
    failed_count: int
    last_activity_at: datetime | None
    description: str
    is_archived: bool


def has_projects(actor: Actor) -> bool:
    return Project.objects.readable_by(actor).exists()


def project_summaries(actor: Actor) -> list[ProjectSummary]:
    """Return the actor's projects, the one with the newest activity first."""
    kept = Q(runs__trashed_at=None)
    broken = Q(runs__state__in=[State.FAILED, State.CRASHED])
    projects = (
        Project.objects.readable_by(actor)
        .annotate(
            run_count=Count("runs", filter=kept),
            running_count=Count("runs", filter=kept & Q(runs__state=State.RUNNING)),
            failed_count=Count("runs", filter=kept & broken),
            last_activity_at=Max("runs__last_seen_at", filter=kept),
        )
        .order_by(F("last_activity_at").desc(nulls_last=True), "name", "id")
        .values(
            "name",
            "slug",
            "run_count",
            "running_count",
            "failed_count",
            "last_activity_at",
            "description",
            is_archived=Q(archived_at__isnull=False),
            workspace_name=F("workspace__name"),
            workspace_slug=F("workspace__slug"),
        )
    )
    return [ProjectSummary(**project) for project in projects]
