"""Divides a long order of runs into segments, of which a page reads one or two.

Runs with a number come before those with a text, and so on. Each segment is sorted by one index
or by one pass of the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.expressions import Combinable, OrderBy

# The sort values of a position, without the run's id.
Keys = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a run: its segment and its sort values there."""

    segment: int
    keys: Keys
    run_id: UUID


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows with at most one per run; `of_run` is the column with the run's id.

    The order is total: the run's id is the last key, in the same direction, so an index that ends
    with it is already sorted. `ties` apply if the first `before_ties` keys are equal, each with
    its own direction; a database sorts only the tied rows. A position does not contain the values
    of ties.
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
    """Return positions of the order from `offset` on."""
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
        # Later segments contain no further matches, so they are not read.
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
    """Return the condition that a row comes after these values in the order."""
    column, value = columns[0], values[0]
    further = Q((f"{column}__{'lt' if is_less else 'gt'}", value))
    if len(columns) == 1:
        return further
    # The second part implies the first, which gives the index its start.
    no_nearer = Q((f"{column}__{'lte' if is_less else 'gte'}", value))
    return no_nearer & (further | _beyond(columns[1:], values[1:], is_less=is_less))
