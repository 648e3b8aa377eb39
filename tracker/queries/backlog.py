"""The points in the journal that compaction has not processed yet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Min, Sum
from django.utils import timezone

from tracker.models import JournalEntry

# Time that points stay in the journal before compaction; summaries in tables lag by the same
# time. A pass costs per series, so shorter intervals raise the cost per point. New runs are
# compacted sooner, because users watch them and their passes are cheap.
FIRST_COMPACTED_AFTER = timedelta(seconds=5)
COMPACTED_AFTER = timedelta(seconds=20)
AGE_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Backlog:
    """Points in the journal, and the age of the oldest one."""

    points: int
    seconds: float


def compacted_after(age: timedelta) -> timedelta:
    """Return how long points of a run of this age stay in the journal (pure)."""
    return min(max(FIRST_COMPACTED_AFTER, AGE_SHARE * age), COMPACTED_AFTER)


def waiting_points(run_id: UUID) -> int:
    """Return the number of points of a run that are not in a summary yet."""
    entries = JournalEntry.objects.filter(run_id=run_id, is_damaged=False)
    points: int | None = entries.aggregate(points=Sum("point_count"))["points"]
    return points or 0


def read_backlog() -> Backlog:
    found = JournalEntry.objects.filter(is_damaged=False).aggregate(
        points=Sum("point_count"), oldest=Min("received_at")
    )
    if found["oldest"] is None:
        return Backlog(0, 0.0)
    seconds = (timezone.now() - found["oldest"]).total_seconds()
    return Backlog(found["points"], max(0.0, seconds))
