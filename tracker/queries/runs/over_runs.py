"""The highest, the lowest or the mean number over all matching runs.

Numbers come from the summaries of runs and series, so no points are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, F, Max, Min, Q, QuerySet, When
from django.db.models.expressions import Combinable
from django.utils import timezone

from tracker.models import Attribute, Kind, Run
from tracker.queries.diagnoses.time_breakdowns import JOULES_OF_A_KILOWATT_HOUR
from tracker.queries.run.attributes import Seen, storable
from tracker.queries.runs import summaries
from tracker.queries.runs.column_keys import of_attribute
from tracker.queries.runs.filter.comparisons import SUMMARY_COLUMNS
from tracker.queries.runs.filter.filters import Found
from tracker.queries.runs.order import ORDERS
from tracker.queries.runs.planner import Planner, planner

# Runs that are checked one by one, of those with the same number.
LOOKED_UP, MAX_EQUAL = 20, 1_000
HIGHEST, LOWEST, MEAN = "highest", "lowest", "mean"


@dataclass(frozen=True, slots=True)
class OverRuns:
    """A number over `run_count` runs, of which `known_count` have one.

    `run` is the run with the highest or lowest number; None for a mean. `reference` is
    the requested run, if it is one of them.
    """

    run_count: int
    known_count: int
    value: float | None = None
    run: Run | None = None
    reference: Run | None = None


def number_over_runs(
    sets: Sequence[Found],
    key: str,
    over: str,
    *,
    seen: Seen | None = None,
    reference: UUID | None = None,
) -> OverRuns:
    """Summarize a column of the runs table: an attribute, or a number of the run.

    `seen` returns whether the reader sees an attribute; None: every one.
    """
    parts = [_over_set(found, key, over, seen) for found in sets]
    numbers = [part.value for part in parts if part.value is not None]
    known_count = sum(part.known_count for part in parts)
    value, best = None, None
    if numbers and over == MEAN:
        value = sum(
            part.value * (part.known_count / known_count)
            for part in parts
            if part.value is not None
        )
    elif numbers:
        value = (max if over == HIGHEST else min)(numbers)
        best = next(part.run_id for part in parts if part.value == value)
    runs = _runs_of(sets, best, reference)
    return OverRuns(
        sum(found.count for found in sets),
        known_count,
        _in_unit(key, value),
        runs.get(best) if best else None,
        runs.get(reference) if reference else None,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """The number over the runs of one project."""

    known_count: int
    value: float | None = None
    run_id: UUID | None = None


def _over_set(found: Found, key: str, over: str, seen: Seen | None) -> _Part:
    with planner() as plan:
        plan.expect_large_sets()
        if found.is_few:
            plan.expect_small_sets()
        rows, _ = _numbers(found, key, seen)
        if over == MEAN:
            numbers = list(rows.values_list("number_of_run", flat=True))
            return _Part(len(numbers), mean_of(numbers) if numbers else None)
        end = (Max if over == HIGHEST else Min)("number_of_run")
        summary = rows.aggregate(known=Count("*"), end=end)
        if summary["end"] is None:
            return _Part(0)
        run_id = _run_with(found, key, seen, summary["end"], plan)
        return _Part(summary["known"], summary["end"], run_id)


def _runs_of(
    sets: Sequence[Found], best: UUID | None, reference: UUID | None
) -> dict[UUID, Run]:
    wanted = {best} - {None}
    if reference and any(found.among([reference]) for found in sets):
        wanted.add(reference)
    return Run.objects.select_related("project").in_bulk(list(wanted)) if wanted else {}


def _in_unit(key: str, value: float | None) -> float | None:
    """Convert joules to the unit of the column."""
    if value is None or key != "energy":
        return value
    return value / JOULES_OF_A_KILOWATT_HOUR


def mean_of(numbers: Iterable[float]) -> float:
    """Return the mean; NaN for infinities of both signs."""
    values = list(numbers)
    try:
        return math.fsum(values) / len(values)
    except (OverflowError, ValueError):
        # The sum is too large, or none.
        return sum(value / len(values) for value in values)


def _run_with(
    found: Found, key: str, seen: Seen | None, number: float, plan: Planner
) -> UUID:
    """Return a matching run with this number, the lowest id of several."""
    if found.tree is not None:
        # Cheaper than the query, unless very many runs have the number.
        some = _having(found.everyone, key, seen, number)[:LOOKED_UP]
        plan.expect_small_sets()
        if matching := found.among(some):
            return min(matching)
    return _having(found, key, seen, number)[0]


def _having(found: Found, key: str, seen: Seen | None, number: float) -> list[UUID]:
    rows, of_run = _numbers(found, key, seen)
    same = rows.filter(number_of_run=number).values_list(of_run, flat=True)
    # Not sorted by the database, which would read an index of all runs.
    return sorted(same[:MAX_EQUAL])


# Any: rows of attributes, run summaries or runs.
def _numbers(found: Found, key: str, seen: Seen | None) -> tuple[QuerySet[Any], str]:
    """Return the rows with a number, as `number_of_run`, and the column of the run."""
    column = of_attribute(key)
    if column is not None:
        rows: QuerySet[Any] = _of_path(found, column.path, seen)
        return _with_number(rows, _summary(column.summary)), "run_id"
    if key in summaries.NUMBERS:
        return _with_number(found.summaries(), F(key)), "run_id"
    (number,) = ORDERS[key](timezone.now())
    return _with_number(found.runs(), number), "id"


# Any: as above.
def _with_number(rows: QuerySet[Any], number: Combinable) -> QuerySet[Any]:
    known: QuerySet[Any] = rows.annotate(number_of_run=number)
    return known.filter(number_of_run__isnull=False)


def _of_path(found: Found, path: str, seen: Seen | None) -> QuerySet[Attribute]:
    if not storable([path]):
        return Attribute.objects.none()
    rows = found.attributes(path)
    # A boolean is stored as 0 or 1. The kind is not in the index, so it is read only where
    # needed.
    of_project = Attribute.objects.filter(project_id=found.project_id, path=path)
    if of_project.filter(number__in=(0.0, 1.0), kind=Kind.BOOLEAN).exists():
        rows = rows.exclude(kind=Kind.BOOLEAN)
    return rows if seen is None else rows.filter(_seen(seen, path))


def _seen(seen: Seen, path: str) -> Q:
    """Return the condition on numbers at a path that a reader sees."""
    parts = [
        Q(count=0, kind=kind, is_parameter=flag)
        for kind in (Kind.FLOAT, Kind.INTEGER)
        for flag in (True, False, None)
        if seen(kind, path, flag)
    ]
    if seen(Kind.FLOAT_SERIES, path, None):
        # Only series of numbers have points and a number. The index has the count.
        parts.insert(0, Q(count__gt=0))
    return Q(*parts, _connector=Q.OR) if parts else Q(pk__in=())


def _summary(summary: str) -> Combinable:
    """Return a number of a series; a single value is its own summary."""
    if summary == "last":
        return F("number")
    return Case(When(count=0, then=F("number")), default=SUMMARY_COLUMNS[summary]())
