"""A long order of runs as a few short questions, of which a page needs one or two.

Runs with a number come before those with a text, and so on: each such part is a
segment, which one index or one pass of the database yields in its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.expressions import Combinable, OrderBy

# The values a place has in the order: what it is sorted by, without the run's id.
Keys = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands: its segment, and what it is sorted by there."""

    segment: int
    keys: Keys
    run_id: UUID


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows of at most one for each run; `of_run` is the column with the run's id.

    Their order is total: the run's id decides last, in the same direction, so that an
    index which ends with it is already sorted. `ties` decide where the first
    `before_ties` of the keys are equal, each in a direction of its own; a database
    sorts only those that are. A place does not say how they were decided.
    """

    rows: QuerySet[Any]
    of_run: str
    keys: tuple[Combinable, ...]
    is_descending: bool
    ties: tuple[OrderBy, ...] = ()
    before_ties: int = 1

    def count(self) -> int:
        return self.rows.order_by().values(self.of_run).count()

    def read(self, start: int, stop: int, after: Place | None) -> list[tuple[Any, ...]]:
        names = [f"key_{number}" for number in range(len(self.keys))]
        columns = [*names, self.of_run]
        rows = self.rows.annotate(**dict(zip(names, self.keys, strict=True)))
        if after is not None:
            values = [*after.keys, after.run_id]
            rows = rows.filter(_beyond(columns, values, is_less=self.is_descending))
        sign = "-" if self.is_descending else ""
        order: list[str | OrderBy] = [sign + column for column in columns]
        place = min(self.before_ties, len(names))
        order[place:place] = self.ties
        return list(rows.order_by(*order).values_list(*columns)[start:stop])


def places_from(
    segments: Sequence[Segment], matching: int, *, offset: int, limit: int
) -> list[Place]:
    """Return some places of the order, those before `offset` passed over."""
    found: list[Place] = []
    passed = 0
    for number, segment in enumerate(segments):
        wanted = limit - len(found)
        start = max(0, offset - passed)
        rows = segment.read(start, start + wanted, None)
        found += _places(number, rows)
        if len(found) == limit or number == len(segments) - 1:
            break
        passed += start + len(rows) if rows else (segment.count() if start else 0)
        # The segments that follow would be read through to find nothing in them.
        if passed >= matching:
            break
    return found


def places_after(
    segments: Sequence[Segment], after: Place, *, limit: int
) -> list[Place]:
    found: list[Place] = []
    for number in range(after.segment, len(segments)):
        last = after if number == after.segment else None
        rows = segments[number].read(0, limit - len(found), last)
        found += _places(number, rows)
        if len(found) == limit:
            break
    return found


def _places(segment: int, rows: list[tuple[Any, ...]]) -> Iterator[Place]:
    for *keys, run_id in rows:
        yield Place(segment, tuple(keys), run_id)


def _beyond(columns: list[str], values: list[Any], *, is_less: bool) -> Q:
    """Return the condition that a row stands after these values in the order."""
    column, value = columns[0], values[0]
    further = Q((f"{column}__{'lt' if is_less else 'gt'}", value))
    if len(columns) == 1:
        return further
    # The first part is implied by the second; with it an index knows where to begin.
    no_nearer = Q((f"{column}__{'lte' if is_less else 'gte'}", value))
    return no_nearer & (further | _beyond(columns[1:], values[1:], is_less=is_less))
