"""Runs that could become a ladder: in order of time, and by their tag."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import F

from tracker.models import Run
from tracker.queries.runs.filter.filters import Found, RunFilter

FIRST_STARTED = (F("started_at").asc(nulls_last=True), "created_at", "id")


def runs_with_tag(project_id: int, tag: str, *, limit: int) -> tuple[list[UUID], int]:
    """Return the first runs with a tag in start order, and the number of further ones."""
    found = Found(project_id, RunFilter(tag=tag)).runs()
    ids = list(found.order_by(*FIRST_STARTED).values_list("id", flat=True)[:limit])
    return ids, max(0, found.count() - len(ids))


def by_time(project_id: int, run_ids: Sequence[UUID]) -> list[UUID]:
    """Return the existing runs of the project among these ids, in start order."""
    runs = Run.objects.filter(project_id=project_id, id__in=list(run_ids))
    ordered = runs.not_in_trash().order_by(*FIRST_STARTED)
    return list(ordered.values_list("id", flat=True))
