"""Arithmetic of spans of time: disjoint ones in order, as (start, end) (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

Interval = tuple[float, float]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Return disjoint intervals in order that cover the same; empty ones are left out."""
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
    """Return the parts of disjoint, ordered spans that lie between two moments."""
    first = bisect_left(spans, (start, start))
    # The one before may reach into it.
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
    """Return the parts of disjoint, ordered spans that no other such span covers."""
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
    """Return how long disjoint spans last together."""
    return sum(end - start for start, end in spans)


def longest_gap(spans: Sequence[Interval], start: float, end: float) -> float:
    """Return the longest time between two moments that no span covers."""
    return max((b - a for a, b in without([(start, end)], spans)), default=0.0)
