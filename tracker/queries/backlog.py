"""How far compaction is behind what was acknowledged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Min, Sum
from django.utils import timezone

from tracker.models import JournalEntry

# Points lie in the journal for so long before they are compacted; summaries in tables
# are so far behind. Fewer seconds would make more and smaller chunks to join later.
COMPACTED_AFTER = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Backlog:
    """What lies in the journal, and for how long the oldest of it has."""

    points: int
    seconds: float


def read_backlog() -> Backlog:
    found = JournalEntry.objects.filter(is_damaged=False).aggregate(
        points=Sum("point_count"), oldest=Min("received_at")
    )
    if found["oldest"] is None:
        return Backlog(0, 0.0)
    seconds = (timezone.now() - found["oldest"]).total_seconds()
    return Backlog(found["points"], max(0.0, seconds))
