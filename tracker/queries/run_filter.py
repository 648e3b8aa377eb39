"""Which runs of a project are shown, and in which order.

Orders are total (the run's id decides last), so that pages never overlap, and runs
without the value come last in both directions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    BooleanField,
    Case,
    Count,
    DateTimeField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    FilteredRelation,
    Func,
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
from django.db.models.functions import Cast, Coalesce, Lower
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

from tracker.errors import InvalidInput
from tracker.models import Attribute, Finding, Run, Stage, State
from tracker.queries.hardware_means import cpu_percent, gpu_percent

TEXT_MAX_LENGTH = 1_024
TAGS_PATH = "tags"
# "path:train/loss" orders by an attribute; anything else is one of ORDERS.
PATH_MARK = "path:"
SEVERITIES = ("notice", "warning", "critical")


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Empty parts let every run through."""

    text: str = ""  # in the name or in a tag
    state: str = ""
    tag: str = ""

    def __post_init__(self) -> None:
        for name in ("text", "tag"):
            if not _is_searchable(getattr(self, name)):
                raise InvalidInput(name, "holds what no name or tag can hold")
        if self.state and self.state not in State.values:
            raise InvalidInput("state", f"must be one of {', '.join(State.values)}")

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.state or self.tag)


@dataclass(frozen=True, slots=True)
class RunOrder:
    key: str = "started"
    is_descending: bool = True

    def __post_init__(self) -> None:
        if not self.path and self.key not in ORDERS:
            raise InvalidInput("sort", "must be a column of the table")
        if not _is_searchable(self.key.removeprefix(PATH_MARK)):
            raise InvalidInput("sort", "holds what no path can hold")

    @property
    def path(self) -> str | None:
        """The attribute to order by, if it is one."""
        if not self.key.startswith(PATH_MARK):
            return None
        return self.key.removeprefix(PATH_MARK)


def matching(runs: QuerySet[Run], wanted: RunFilter) -> QuerySet[Run]:
    if wanted.state:
        runs = runs.filter(state=wanted.state)
    if wanted.tag:
        runs = runs.filter(Exists(_tags_with(wanted.tag)))
    if wanted.text:
        pattern = f"%{_escaped(wanted.text)}%"
        tagged = Exists(_tags_with(pattern, is_pattern=True))
        runs = runs.filter(Q(name__icontains=wanted.text) | Q(tagged))
    return runs


def in_order(runs: QuerySet[Run], order: RunOrder) -> QuerySet[Run]:
    if order.path is not None:
        # Numbers before texts before NaN before runs without the attribute.
        condition = Q(attributes__path=order.path)
        runs = runs.annotate(
            ordered=FilteredRelation("attributes", condition=condition)
        )
        keys = ["ordered__number", "ordered__text", "ordered__is_nan"]
    else:
        runs = runs.annotate(order_key=ORDERS[order.key]())
        keys = ["order_key"]

    directed = [
        F(key).desc(nulls_last=True)
        if order.is_descending
        else F(key).asc(nulls_last=True)
        for key in keys
    ]
    return runs.order_by(*directed, "-created_at", "id")


class AnyItem(Func):
    """True where an item of a JSON array of texts is equal to, or like, a text.

    Written out as the ORM can ask this of PostgreSQL only. Both arguments reach the
    database as parameters.
    """

    output_field = BooleanField()

    def __init__(self, items: F, text: Value, *, is_pattern: bool) -> None:
        super().__init__(items, text)
        self.is_pattern = is_pattern

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> tuple[str, tuple[str | int, ...]]:
        compared = "item.value LIKE" if self.is_pattern else "item.value ="
        return self._over("json_each", compared, compiler, connection)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> tuple[str, tuple[str | int, ...]]:
        compared = "item ILIKE" if self.is_pattern else "item ="
        return self._over("jsonb_array_elements_text", compared, compiler, connection)

    def _over(
        self,
        items_of: str,
        compared: str,
        compiler: SQLCompiler,
        connection: BaseDatabaseWrapper,
    ) -> tuple[str, tuple[str | int, ...]]:
        escape = " ESCAPE '!'" if self.is_pattern else ""
        return self.as_sql(
            compiler,
            connection,
            template=f"EXISTS (SELECT 1 FROM {items_of}(%(expressions)s{escape})",
            arg_joiner=f") AS item WHERE {compared} ",
        )


def _tags_with(text: str, *, is_pattern: bool = False) -> QuerySet[Attribute]:
    return Attribute.objects.filter(
        AnyItem(F("items"), Value(text), is_pattern=is_pattern),
        run=OuterRef("pk"),
        path=TAGS_PATH,
    )


def _escaped(text: str) -> str:
    for character in "!%_":
        text = text.replace(character, f"!{character}")
    return text


def _is_searchable(text: str) -> bool:
    """Refuse what no stored text holds and PostgreSQL would not even compare."""
    has_surrogate = any("\ud800" <= character <= "\udfff" for character in text)
    return len(text) <= TEXT_MAX_LENGTH and "\0" not in text and not has_surrogate


def _duration() -> Combinable:
    until = Coalesce(
        "ended_at",
        Case(
            When(state=State.RUNNING, then=Value(timezone.now())),
            default=F("last_seen_at"),
        ),
        output_field=DateTimeField(),
    )
    return ExpressionWrapper(until - F("started_at"), output_field=DurationField())


def _stage_count() -> Combinable:
    stages = Stage.objects.filter(run=OuterRef("pk")).order_by().values("run")
    return Subquery(stages.annotate(count=Count("id")).values("count"))


def _tags() -> Combinable:
    tags = Attribute.objects.filter(run=OuterRef("pk"), path=TAGS_PATH)
    return Subquery(tags.annotate(joined=Cast("items", TextField())).values("joined"))


def _severity() -> Combinable:
    """Return how bad the main finding is, as a number."""
    ranks = [
        When(severity=name, then=Value(rank)) for rank, name in enumerate(SEVERITIES)
    ]
    findings = Finding.objects.filter(
        run=OuterRef("pk"), is_open=True, is_primary=True
    ).annotate(rank=Case(*ranks, output_field=IntegerField()))
    return Subquery(findings.order_by("-rank").values("rank")[:1])


ORDERS: dict[str, Callable[[], Combinable]] = {
    "name": lambda: Lower("name"),
    "state": lambda: F("state"),
    "started": lambda: F("started_at"),
    "duration": _duration,
    "stages": _stage_count,
    "tags": _tags,
    "finding": _severity,
    "gpu": gpu_percent,
    "cpu": cpu_percent,
}
