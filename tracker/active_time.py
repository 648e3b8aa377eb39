"""How long processes ran, without the pauses between them (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

Interval = tuple[datetime, datetime]


def active_seconds(
    intervals: Iterable[Interval], *, until: datetime | None = None
) -> float:
    """Return the seconds covered by the intervals, up to `until`."""
    total = timedelta()
    reached: datetime | None = None
    for start, end in sorted(intervals):
        begin = start if reached is None else max(start, reached)
        stop = end if until is None else min(end, until)
        total += max(stop - begin, timedelta())
        reached = stop if reached is None else max(reached, stop)
    return total.total_seconds()
