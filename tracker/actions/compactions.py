"""Requests compaction of runs whose journal is long or old enough.

The journal itself shows the pending work, so a stored batch need not update a row that
all processes of its run share.
"""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count, Min, Sum
from django.utils import timezone

from tracker.actions.work import request_works
from tracker.models import JournalEntry, WorkKind
from tracker.queries.backlog import compacted_after
from tracker.series.compaction import PASS_ENTRIES, PASS_POINTS


def request_compactions() -> None:
    journals = (
        JournalEntry.objects.filter(is_damaged=False)
        .values("run_id", "run__created_at")
        .annotate(
            oldest=Min("received_at"), points=Sum("point_count"), many=Count("id")
        )
    )
    now = timezone.now()
    ripe: list[UUID] = []
    for found in journals:
        is_long = found["points"] >= PASS_POINTS or found["many"] >= PASS_ENTRIES
        is_old = now - found["oldest"] >= compacted_after(
            now - found["run__created_at"]
        )
        if is_long or is_old:
            ripe.append(found["run_id"])
    request_works(ripe, WorkKind.COMPACT)
