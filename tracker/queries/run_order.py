"""In which order runs are shown.

Runs without the value come last in both directions, the newest first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import (
    Case,
    Count,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Left, Lower
from django.db.models.lookups import IsNull

from tracker.errors import InvalidInput
from tracker.models import Attribute, Finding, Run, Stage
from tracker.models.attribute import SHORT_CHARACTERS
from tracker.queries.hardware_order import Sorted, by_cpu, by_gpu
from tracker.queries.run_columns import duration_seconds
from tracker.queries.run_conditions import LONG_TEXT, SHORT_TEXT, SUMMARY_COLUMNS
from tracker.queries.run_filter import TAGS_PATH, Found, is_searchable
from tracker.queries.run_segments import Segment

# "path:train/loss" orders by an attribute, "min:train/loss" by what a series' summary
# says; anything else is one of ORDERS.
PATH_MARK = "path:"
SUMMARY_MARKS = {
    PATH_MARK: "last",
    **{f"{name}:": name for name in SUMMARY_COLUMNS if name != "last"},
}
SEVERITIES = ("notice", "warning", "critical")


@dataclass(frozen=True, slots=True)
class RunOrder:
    key: str = "started"
    is_descending: bool = True

    def __post_init__(self) -> None:
        if not self.path and self.key not in COLUMNS:
            raise InvalidInput("sort", "must be a column of the table")
        if not is_searchable(self.path or ""):
            raise InvalidInput("sort", "holds what no path can hold")

    @property
    def path(self) -> str | None:
        """The attribute to order by, if it is one."""
        mark, colon, path = self.key.partition(":")
        return path if f"{mark}{colon}" in SUMMARY_MARKS else None

    @property
    def summary(self) -> str:
        """What of the attribute to order by."""
        return SUMMARY_MARKS[self.key.partition(":")[0] + ":"]

    def __str__(self) -> str:
        return f"{'-' if self.is_descending else ''}{self.key}"


def segments_of(order: RunOrder, found: Found, now: datetime) -> list[Segment]:
    """Return the parts of the order as it is at a moment: runs that run grow longer."""
    if order.path is not None:
        return _by_attribute(order, order.path, found)
    if order.key in ROW_ORDERS:
        return _by_rows(order, found)
    keys = ORDERS[order.key](now)
    has_value = Q(IsNull(keys[0], False))
    runs = found.runs()
    segments = [Segment(runs.filter(has_value), "id", keys, order.is_descending)]
    if order.key not in NEVER_NULL:
        segments.append(_newest_first(runs.exclude(has_value)))
    return segments


def _by_rows(order: RunOrder, found: Found) -> list[Segment]:
    """Sort runs by what many rows of each say together."""
    rows, key = ROW_ORDERS[order.key](found)
    rows = rows.annotate(known=key).filter(known__isnull=False)
    rest = found.runs().exclude(id__in=rows.values("run_id"))
    first = Segment(rows, "run_id", (F("known"),), order.is_descending)
    return [first, _newest_first(rest)]


def _by_attribute(order: RunOrder, path: str, found: Found) -> list[Segment]:
    """Numbers, short texts, long texts, NaN, and runs without the attribute."""
    column = SUMMARY_COLUMNS[order.summary]()
    rows = found.attributes(path)
    if order.summary == "last":
        parts: list[tuple[QuerySet[Any], tuple[Combinable, ...]]] = [
            (rows.filter(number__isnull=False), (column,)),
            (rows.filter(SHORT_TEXT), (F("text"),)),
            # Their beginnings would do, and they themselves would not fit a cursor.
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
    return Segment(runs, "id", (F("created_at"),), is_descending=True)


def _stage_count() -> Combinable:
    stages = Stage.objects.filter(run=OuterRef("pk")).order_by().values("run")
    return Subquery(stages.annotate(count=Count("id")).values("count"))


def _by_tags(found: Found) -> Sorted:
    tagged = found.attributes(TAGS_PATH).filter(items__isnull=False)
    return tagged, Cast("items", TextField())


def _severity() -> Combinable:
    """Return how bad the main finding is, as a number."""
    ranks = [
        When(severity=name, then=Value(rank)) for rank, name in enumerate(SEVERITIES)
    ]
    findings = Finding.objects.filter(
        run=OuterRef("pk"), is_open=True, is_primary=True
    ).annotate(rank=Case(*ranks, output_field=IntegerField()))
    return Subquery(findings.order_by("-rank").values("rank")[:1])


# What the runs with this value are sorted by; their ids decide last.
ORDERS: dict[str, Callable[[datetime], tuple[Combinable, ...]]] = {
    "name": lambda _: (Lower("name"),),
    "state": lambda _: (F("state"), F("created_at")),
    "created": lambda _: (F("created_at"),),
    "started": lambda _: (F("started_at"),),
    "duration": lambda now: (duration_seconds(now),),
    "stages": lambda _: (_stage_count(), F("created_at")),
    "finding": lambda _: (_severity(), F("created_at")),
}
# What must be gathered from a run's attributes.
ROW_ORDERS: dict[str, Callable[[Found], Sorted]] = {
    "tags": _by_tags,
    "gpu": by_gpu,
    "cpu": by_cpu,
}
COLUMNS = (*ORDERS, *ROW_ORDERS)
NEVER_NULL = ("name", "state", "created")
