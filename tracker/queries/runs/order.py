"""The order in which runs are shown.

Runs without the value come last in both directions, the newest first. Further orders break ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import (
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.expressions import Combinable, OrderBy
from django.db.models.functions import Left, Lower
from django.db.models.lookups import IsNull

from tracker.errors import InvalidInput
from tracker.models import Attribute, Run, RunSummary
from tracker.models.attribute import SHORT_CHARACTERS
from tracker.queries.runs import summaries
from tracker.queries.runs.column_keys import of_attribute
from tracker.queries.runs.columns import duration_seconds, wall_seconds
from tracker.queries.runs.filter.comparisons import SUMMARY_COLUMNS
from tracker.queries.runs.filter.conditions import LONG_TEXT, SHORT_TEXT
from tracker.queries.runs.filter.filters import Found, is_searchable
from tracker.queries.runs.segments import Segment

# Each further order may need a lookup for every run that is equal so far.
MAX_ORDERS = 4


@dataclass(frozen=True, slots=True)
class RunOrder:
    key: str = "started"
    is_descending: bool = True
    # Orders that break ties, the most important first.
    then: tuple[RunOrder, ...] = ()

    def __post_init__(self) -> None:
        if not self.path and self.key not in COLUMNS:
            raise InvalidInput("sort", "must be a column of the table")
        if not is_searchable(self.path or ""):
            raise InvalidInput(
                "sort", "contains a character that is not allowed, or is too long"
            )
        if len(self.then) >= MAX_ORDERS:
            raise InvalidInput("sort", f"must be at most {MAX_ORDERS} columns")

    @property
    def path(self) -> str | None:
        """The attribute to order by, if it is one."""
        column = of_attribute(self.key)
        return column.path if column else None

    @property
    def summary(self) -> str:
        """The number of the attribute's summary to order by."""
        column = of_attribute(self.key)
        return column.summary if column else ""

    def __str__(self) -> str:
        parts = (self, *self.then)
        return ",".join(f"{'-' if o.is_descending else ''}{o.key}" for o in parts)


def read_order(texts: Sequence[str]) -> RunOrder:
    """Read orders, the most important first; "-started" is started, descending."""
    orders: dict[str, RunOrder] = {}
    for text in filter(None, texts):
        order = RunOrder(text.removeprefix("-"), text.startswith("-"))
        orders.setdefault(order.key, order)
    first, *others = orders.values() or [RunOrder()]
    return replace(first, then=tuple(others))


def segments_of(order: RunOrder, found: Found, now: datetime) -> list[Segment]:
    """Return the segments of the order at a time, because running runs get longer."""
    segments = _segments_of(order, found, now)
    if not order.then:
        return segments
    return [
        replace(segment, ties=tuple(_ties(order, segment.of_run, now)))
        for segment in segments
    ]


def _segments_of(order: RunOrder, found: Found, now: datetime) -> list[Segment]:
    if order.path is not None:
        return _by_attribute(order, order.path, found)
    if order.key in summaries.ORDERS:
        return _by_summary(order, found)
    keys = ORDERS[order.key](now)
    has_value = Q(IsNull(keys[0], False))
    runs = found.runs()
    segments = [Segment(runs.filter(has_value), "id", keys, order.is_descending)]
    if order.key not in NEVER_NULL:
        segments.append(_newest_first(runs.exclude(has_value)))
    return segments


def _by_summary(order: RunOrder, found: Found) -> list[Segment]:
    """Sort by columns of the run summary."""
    columns = summaries.ORDERS[order.key]
    known = Q((f"{columns[0]}__isnull", False))
    rows = found.summaries().filter(known)
    with_value = RunSummary.objects.filter(known, project_id=found.project_id)
    rest = found.runs().exclude(id__in=with_value.values("run_id"))
    keys = tuple(map(F, columns))
    first = Segment(rows, "run_id", keys, order.is_descending)
    return [first, _newest_first(rest)]


def _by_attribute(order: RunOrder, path: str, found: Found) -> list[Segment]:
    """Return segments for numbers, short texts, long texts, NaN, and missing values."""
    column = SUMMARY_COLUMNS[order.summary]()
    rows = found.attributes(path)
    if order.summary == "last":
        parts: list[tuple[QuerySet[Any], tuple[Combinable, ...]]] = [
            (rows.filter(number__isnull=False), (column,)),
            (rows.filter(SHORT_TEXT), (F("text"),)),
            # Sort by the beginnings, because whole texts would not fit in a cursor.
            (rows.filter(LONG_TEXT), (Left("text", SHORT_CHARACTERS),)),
            (rows.filter(number__isnull=True, is_nan=True), ()),
        ]
        has_value = Q(number__isnull=False) | Q(text__isnull=False) | Q(is_nan=True)
    else:
        has_value = Q(IsNull(column, False))
        parts = [(rows.filter(has_value), (column,))]
    segments = [
        Segment(part, "run_id", keys, order.is_descending) for part, keys in parts
    ]
    with_value = Attribute.objects.filter(
        has_value, project_id=found.project_id, path=path
    )
    rest = found.runs().exclude(id__in=with_value.values("run_id"))
    return [*segments, _newest_first(rest)]


def _newest_first(runs: QuerySet[Run]) -> Segment:
    keys = (F("created_at"),)
    return Segment(runs, "id", keys, is_descending=True, before_ties=0)


def _ties(order: RunOrder, of_run: str, now: datetime) -> Iterator[OrderBy]:
    """Return the tie breakers for runs whose ids are in the column `of_run`."""
    for other in order.then:
        for value in _looked_up(other, OuterRef(of_run), now):
            yield OrderBy(value, descending=other.is_descending, nulls_last=True)


def _looked_up(order: RunOrder, run_id: OuterRef, now: datetime) -> list[Subquery]:
    """Return the sort values of one run; the first known one counts."""
    if order.path is not None:
        rows = Attribute.objects.filter(run_id=run_id, path=order.path)
        keys = [SUMMARY_COLUMNS[order.summary]()]
        if order.summary == "last":
            keys.append(Left("text", SHORT_CHARACTERS))
        return [_only(rows, key) for key in keys]
    if order.key in summaries.ORDERS:
        own = RunSummary.objects.filter(run_id=run_id)
        return [_only(own, F(summaries.ORDERS[order.key][0]))]
    return [_only(Run.objects.filter(id=run_id), ORDERS[order.key](now)[0])]


# Any: rows of any table, at most one for the run.
def _only(rows: QuerySet[Any], key: Combinable) -> Subquery:
    return Subquery(rows.annotate(wanted=key).values("wanted")[:1])


# Sort values of the runs that have this value; run ids break the remaining ties.
ORDERS: dict[str, Callable[[datetime], tuple[Combinable, ...]]] = {
    "name": lambda _: (Lower("name"),),
    "state": lambda _: (F("state"), F("created_at")),
    "created": lambda _: (F("created_at"),),
    "started": lambda _: (F("started_at"),),
    "ended": lambda _: (F("ended_at"),),
    "made_by": lambda _: (Lower("made_by__username"), F("created_at")),
    "duration": lambda now: (duration_seconds(now),),
    "wall_time": lambda now: (wall_seconds(now),),
}
COLUMNS = (*ORDERS, *summaries.ORDERS)
NEVER_NULL = ("name", "state", "created")
