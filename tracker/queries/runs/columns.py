"""Database expressions for runs that the ORM does not provide."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    BooleanField,
    Case,
    DateTimeField,
    F,
    FloatField,
    Func,
    Q,
    UUIDField,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

from tracker.models import State

Sql = tuple[str, tuple[str | int, ...]]


def each_of(run_ids: Collection[UUID]) -> Collection[UUID] | Func:
    """Return the value of `run_id__in` for a few given runs.

    With a list, PostgreSQL searches each id in each partition of a table; with rows, it selects
    the partition of each id.
    """
    if connection.vendor != "postgresql":
        return run_ids
    # One text parameter, because the driver would adapt each element of a list.
    return Unnested(Value(f"{{{','.join(map(str, run_ids))}}}"))


def duration_seconds(now: datetime) -> Combinable:
    """Return the time in which stages of a run ran, until now if one still runs."""
    return Case(
        When(
            active_since__isnull=False,
            then=F("active_seconds") + SecondsBetween(F("active_since"), Value(now)),
        ),
        default=F("active_seconds"),
        output_field=FloatField(),
    )


def wall_seconds(now: datetime) -> Combinable:
    """Return the time from a run's start to its end, until now if it is running."""
    until = Coalesce(
        "ended_at",
        Case(
            When(state=State.RUNNING, then=Value(now)),
            default=F("last_seen_at"),
        ),
        output_field=DateTimeField(),
    )
    return SecondsBetween(F("started_at"), until)


# Any: a run, or a row with the columns used here.
def run_seconds(run: Any, now: datetime | None = None) -> float | None:
    """Return the duration of a run; None if it is unknown."""
    if run.active_seconds is None:
        return None
    seconds = float(run.active_seconds)
    if run.active_since is None:
        return seconds
    running = ((now or timezone.now()) - run.active_since).total_seconds()
    return seconds + max(0.0, float(running))


# Any: as above.
def run_wall_seconds(run: Any, now: datetime | None = None) -> float | None:
    """Return the wall time of a run; None if its start is unknown."""
    if run.started_at is None:
        return None
    is_running = run.state == State.RUNNING
    until = run.ended_at or (
        (now or timezone.now()) if is_running else run.last_seen_at
    )
    return float(max(0.0, (until - run.started_at).total_seconds()))


class Unnested(Func):
    """The items of an array of ids, as rows."""

    template = "(SELECT unnest((%(expressions)s)::uuid[]))"
    output_field = UUIDField()


class SecondsBetween(Func):
    """Seconds between two timestamps; in SQL, because Django's SQLite uses a slow function."""

    output_field = FloatField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> Sql:
        template = "((julianday(%(expressions)s)) * -86400.0)"
        joiner = ") - julianday("
        return self.as_sql(compiler, connection, template=template, arg_joiner=joiner)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> Sql:
        template = "(EXTRACT(EPOCH FROM %(expressions)s)::float8 * -1)"
        return self.as_sql(compiler, connection, template=template, arg_joiner=" - ")


def holds(column: str, text: str) -> Q:
    """Return the condition that a text contains another, ignoring case."""
    if _is_folded_by_us(text):
        return Q(HoldsFolded(F(column), Value(text.casefold())))
    return Q((f"{column}__icontains", text))


def any_item_holds(column: str, text: str) -> Q:
    """Return the condition that an item of a JSON array contains a text, ignoring case."""
    if _is_folded_by_us(text):
        return Q(AnyItemFolded(F(column), Value(text.casefold())))
    return Q(AnyItem(F(column), Value(_pattern(text)), is_pattern=True))


def _is_folded_by_us(text: str) -> bool:
    """Return whether case folding must be done in Python.

    SQLite's LIKE folds only A to Z, which is enough for most searches, and faster.
    """
    return connection.vendor == "sqlite" and not text.isascii()


def _pattern(text: str) -> str:
    """Return a pattern for LIKE ... ESCAPE '!' that matches texts containing this one."""
    for character in "!%_":
        text = text.replace(character, f"!{character}")
    return f"%{text}%"


class HoldsFolded(Func):
    """True if a text contains a case-folded one: a custom function in SQLite."""

    function = "holds_folded"
    output_field = BooleanField()


class AnyItem(Func):
    """True if an item of a JSON array of texts equals, or is LIKE, a text.

    In SQL, because the ORM supports this on PostgreSQL only. Both arguments are passed as
    parameters.
    """

    output_field = BooleanField()

    def __init__(self, items: F, text: Value, *, is_pattern: bool = False) -> None:
        super().__init__(items, text)
        self.is_pattern = is_pattern

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> Sql:
        compared = "item.value LIKE" if self.is_pattern else "item.value ="
        return self._over("json_each", compared, compiler, connection)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> Sql:
        if not self.is_pattern:
            # This form can use an index of the array.
            template, joiner = "(%(expressions)s))", " @> jsonb_build_array("
            return self.as_sql(
                compiler, connection, template=template, arg_joiner=joiner
            )
        return self._over(
            "jsonb_array_elements_text", "item ILIKE", compiler, connection
        )

    def _over(
        self,
        items_of: str,
        compared: str,
        compiler: SQLCompiler,
        connection: BaseDatabaseWrapper,
    ) -> Sql:
        escape = " ESCAPE '!'" if self.is_pattern else ""
        return self.as_sql(
            compiler,
            connection,
            template=f"EXISTS (SELECT 1 FROM {items_of}(%(expressions)s{escape})",
            arg_joiner=f") AS item WHERE {compared} ",
        )


class AnyItemFolded(AnyItem):
    """True if an item contains a case-folded text; for SQLite only."""

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> Sql:
        return self.as_sql(
            compiler,
            connection,
            template="EXISTS (SELECT 1 FROM json_each(%(expressions)s))",
            arg_joiner=") AS item WHERE holds_folded(item.value, ",
        )
