"""Operations on time intervals: disjoint and ordered (start, end) pairs (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

Interval = tuple[float, float]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the union as disjoint intervals in order; empty ones are dropped."""
    found: list[Interval] = []
    since = until = 0.0
    is_open = False
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if is_open and start <= until:
            until = max(until, end)
            continue
        if is_open:
            found.append((since, until))
        since, until, is_open = start, end, True
    if is_open:
        found.append((since, until))
    return found


def within(spans: Sequence[Interval], start: float, end: float) -> list[Interval]:
    """Return the parts of disjoint, ordered intervals within a window."""
    first = bisect_left(spans, (start, start))
    # The previous interval may overlap the window.
    if first and spans[first - 1][1] > start:
        first -= 1
    found = []
    for position in range(first, len(spans)):
        since, until = spans[position]
        if since >= end:
            break
        found.append((max(since, start), min(until, end)))
    return found


def without(spans: Sequence[Interval], others: Sequence[Interval]) -> list[Interval]:
    """Return the difference of two lists of disjoint, ordered intervals."""
    found: list[Interval] = []
    place = 0
    for start, end in spans:
        since = start
        while place < len(others) and others[place][1] <= since:
            place += 1
        at = place
        while at < len(others) and others[at][0] < end:
            if others[at][0] > since:
                found.append((since, others[at][0]))
            since = max(since, others[at][1])
            at += 1
        if since < end:
            found.append((since, end))
    return found


def total(spans: Iterable[Interval]) -> float:
    """Return the total duration of disjoint intervals."""
    return sum(end - start for start, end in spans)


def longest_gap(spans: Sequence[Interval], start: float, end: float) -> float:
    """Return the longest gap in a window that no interval covers."""
    return max((b - a for a, b in without([(start, end)], spans)), default=0.0)
