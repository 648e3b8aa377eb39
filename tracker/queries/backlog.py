"""How far compaction is behind what was acknowledged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Min, Sum
from django.utils import timezone

from tracker.models import JournalEntry

# Points lie in the journal for so long before they are compacted; summaries in tables
# are so far behind. Each pass costs by the series, so with fewer seconds each point
# would cost more. Whoever has just begun a run watches it, and its passes are few yet.
FIRST_COMPACTED_AFTER = timedelta(seconds=5)
COMPACTED_AFTER = timedelta(seconds=20)
AGE_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Backlog:
    """What lies in the journal, and for how long the oldest of it has."""

    points: int
    seconds: float


def compacted_after(age: timedelta) -> timedelta:
    """Return for how long points of a run of this age lie in the journal (pure)."""
    return min(max(FIRST_COMPACTED_AFTER, AGE_SHARE * age), COMPACTED_AFTER)


def waiting_points(run_id: UUID) -> int:
    """Return how many points of a run are in no summary yet."""
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
