"""Attributes of several runs side by side, and their differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from tracker.models import Attribute, Kind, Project, Run
from tracker.queries.run.attributes import AttributeRow, Seen, attribute_values
from tracker.queries.run.namespaces import MONITORING, PROFILE, namespace
from tracker.queries.runs.columns import holds
from tracker.queries.runs.filter.filters import Found, RunFilter

# Maximum number of compared runs. Their ids take 3.7 kB of a URL; servers and proxies
# commonly accept 8 kB.
RUNS_AT_MOST = 100
# Paths per page.
CHUNK = 250
# Maximum number of words in a search of other projects.
MAX_WORDS = 8
# A profile always differs, and has a page of its own.
SHOWN = ~Q(path__endswith=PROFILE)


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One attribute of every run, in the order of the runs; None if a run lacks it."""

    path: str
    values: list[AttributeRow | None]
    differs: bool


@dataclass(frozen=True, slots=True)
class ComparedPage:
    rows: list[ComparedRow]
    path_count: int  # of all pages, including equal ones
    next_offset: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A number compared with the reference; `share` is None for 0 and infinities."""

    amount: float
    share: float | None


def compare_attributes(
    run_ids: Sequence[UUID],
    *,
    offset: int = 0,
    limit: int = CHUNK,
    only_differences: bool = True,
    seen: Seen | None = None,
) -> ComparedPage:
    """Compare `limit` paths from `offset` on, with two statements.

    `seen` is None for a reader who sees everything.
    """
    paths = _paths(run_ids) if seen is None else _seen_paths(run_ids, seen)
    looked_at = paths[offset : offset + limit]
    values = attribute_values(list(run_ids), looked_at)

    rows = [
        ComparedRow(path, found, differs=not all_same(found))
        for path in looked_at
        for found in [[values.get(run_id, {}).get(path) for run_id in run_ids]]
    ]
    end = offset + len(looked_at)
    return ComparedPage(
        rows=[row for row in rows if row.differs or not only_differences],
        path_count=len(paths),
        next_offset=end if end < len(paths) else None,
    )


def overlaid_series(run_ids: Sequence[UUID]) -> dict[str, int]:
    """Return every series of the runs, and the number of runs that have it."""
    series = Attribute.objects.filter(run__in=run_ids, kind=Kind.FLOAT_SERIES)
    counted = series.order_by().values_list("path").annotate(runs=Count("run"))
    return dict(counted)


def all_same(values: Sequence[AttributeRow | None]) -> bool:
    return all(same(value, values[0]) for value in values[1:])


def same(left: AttributeRow | None, right: AttributeRow | None) -> bool:
    """Compare values; NaN equals NaN, 1 equals 1.0, and true differs from 1."""
    if left is None or right is None:
        return left is right
    a, b = left.value, right.value
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return a == b


def difference(
    value: AttributeRow | None, reference: AttributeRow | None
) -> Difference | None:
    """Return the difference of a number from the reference; None if it has no meaning."""
    if value is None or reference is None:
        return None
    a, b = _as_number(value), _as_number(reference)
    return None if a is None or b is None else difference_between(a, b)


def difference_between(a: float, b: float) -> Difference | None:
    if a == b:
        return None
    amount = a - b
    is_shareable = b != 0 and math.isfinite(amount)
    return Difference(amount, amount / abs(b) if is_shareable else None)


def _as_number(row: AttributeRow) -> float | None:
    if isinstance(row.value, bool) or not isinstance(row.value, int | float):
        return None
    try:
        number = float(row.value)
    except OverflowError:
        return None
    return None if math.isnan(number) else number


def _paths(run_ids: Sequence[UUID]) -> list[str]:
    attributes = Attribute.objects.filter(SHOWN, run__in=run_ids).order_by()
    return in_order(attributes.values_list("path", flat=True).distinct())


def _seen_paths(run_ids: Sequence[UUID], seen: Seen) -> list[str]:
    """Return the paths whose kind is visible in every run that has them."""
    attributes = Attribute.objects.filter(SHOWN, run__in=run_ids).order_by()
    found = set(attributes.values_list("path", "kind", "is_parameter").distinct())
    hidden = {path for path, kind, is_set in found if not seen(kind, path, is_set)}
    return in_order({path for path, *_ in found} - hidden)


def in_order(paths: Iterable[str]) -> list[str]:
    """Sort paths as comparisons list them."""
    # Sorted in Python, because the databases sort text differently; by the parts of namespaces,
    # so that a namespace is directly followed by its contents.
    return sorted(
        paths,
        key=lambda path: (
            path.startswith(MONITORING),
            namespace(path).split("/") if "/" in path else [],
            path,
        ),
    )


def find_runs(
    project_id: int, text: str, *, without: Sequence[UUID], limit: int = 12
) -> list[Run]:
    """Return the newest runs whose name or tags contain a text, to add to the comparison."""
    runs = Found(project_id, RunFilter(text=text)).runs().exclude(id__in=without)
    return list(runs.select_related("project").order_by("-created_at", "id")[:limit])


def find_runs_beside(
    projects: QuerySet[Project], text: str, *, without: Sequence[UUID], limit: int
) -> list[Run]:
    """Return the newest runs of several projects whose own or project name has each word."""
    found = projects.order_by().values("id")
    runs = Run.objects.filter(project__in=found).not_in_trash()
    for word in text.replace("\0", " ").split()[:MAX_WORDS]:
        named = holds("name", word) | holds("project__name", word)
        runs = runs.filter(named)
    runs = runs.exclude(id__in=without).select_related("project")
    return list(runs.order_by("-created_at", "id")[:limit])


def run_named(project_id: int, name: str) -> UUID | None:
    if "\0" in name:
        return None
    runs = Run.objects.filter(project_id=project_id, name=name).not_in_trash()
    return runs.values_list("id", flat=True).first()
