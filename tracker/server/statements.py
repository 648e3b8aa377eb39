"""Carries out statements that are written out, without the ORM.

The ORM takes longer to build a statement than the database to carry it out. Where that
counts, a statement is a constant, prepared once by the database's driver.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any
from uuid import UUID

import orjson
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper


class _Current(threading.local):
    """This thread's connection: the usual stand-in looks it up each time."""

    connection: BaseDatabaseWrapper | None = None


_current = _Current()


def database() -> BaseDatabaseWrapper:
    """Return this thread's connection itself."""
    if _current.connection is None:
        _current.connection = connections[DEFAULT_DB_ALIAS]
    return _current.connection


@contextmanager
def using(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Have this thread, and the ORM in it, use another connection meanwhile."""
    own = database()
    connections[DEFAULT_DB_ALIAS] = _current.connection = connection
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = _current.connection = own


def key(value: UUID) -> UUID | str:
    return value if database().vendor == "postgresql" else value.hex


def key_read(value: UUID | str) -> UUID:
    """Return the id of a row as the database gave it to a constant statement."""
    return value if isinstance(value, UUID) else UUID(value)


# Any: numbers or texts.
def many(values: Iterable[Any]) -> list[Any] | str:
    """Return what `= ANY(%s)` compares a number or a text with."""
    listed = list(values)
    if database().vendor == "postgresql":
        return listed
    return orjson.dumps(listed).decode()


def moment(value: datetime) -> datetime | str:
    """Return a time of UTC as the database holds it, which Django would find out slowly."""
    if database().vendor == "postgresql":
        return value
    return value.replace(tzinfo=None).isoformat(" ")


def moment_read(value: datetime | None) -> datetime | None:
    """Return a time of a column as it is meant: in UTC, which SQLite does not say."""
    if value is None or value.tzinfo is not None:
        return value
    return value.replace(tzinfo=UTC)


# Any: a row is what the statement's columns are.
def one_row(statement: str, values: Sequence[object]) -> tuple[Any, ...] | None:
    """Return the first row of what a constant statement selects."""
    row: tuple[Any, ...] | None = _carry_out(database(), statement, values).fetchone()
    return row


def every_row(
    statement: str, values: Sequence[object], *, run_ids: Collection[UUID] = ()
) -> list[tuple[Any, ...]]:
    """Return all rows of what a constant statement selects, as the driver gives them.

    It may say `= ANY(%s)`, also for SQLite, of what `many` returned; and, before all
    other values, `run_id IN ({runs})`, any number of times.
    """
    if "{runs}" in statement:
        keys: list[object] = [key(run_id) for run_id in run_ids] or [None]
        # Of an array, PostgreSQL would look into every partition. The last key fills up
        # to a power of two, so that few statements are prepared.
        places = 1 << (len(keys) - 1).bit_length()
        keys += keys[-1:] * (places - len(keys))
        values = [*keys * statement.count("{runs}"), *values]
        statement = statement.replace("{runs}", ", ".join(["%s"] * places))
    rows: list[tuple[Any, ...]] = _carry_out(database(), statement, values).fetchall()
    return rows


def carry_out(statement: str, values: Sequence[object]) -> None:
    """Carry out a constant statement that writes; only inside a transaction."""
    _carry_out(_database_in_transaction(), statement, values)


def changed_rows(statement: str, values: Sequence[object]) -> int:
    """Carry out a constant statement that writes; return how many rows it changed.

    On PostgreSQL it needs no transaction: it commits by itself.
    """
    connection = database()
    if connection.vendor != "postgresql":
        connection = _database_in_transaction()
    count: int = _carry_out(connection, statement, values).rowcount
    return count


def carry_out_many(statement: str, rows: Iterable[Sequence[object]]) -> None:
    """Carry out a constant statement that writes for each row of values; likewise."""
    connection = _database_in_transaction()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            from psycopg import Cursor  # noqa: PLC0415 - only where it is used

            Cursor(connection.connection).executemany(statement, rows)
        else:
            connection.connection.executemany(_for_sqlite(statement), rows)


def _database_in_transaction() -> BaseDatabaseWrapper:
    connection = database()
    if not connection.in_atomic_block:
        # On SQLite, nobody would have asked for the writer's lock.
        raise RuntimeError("writing needs a transaction")
    connection.validate_no_broken_transaction()
    return connection


# Any: a cursor of either driver.
def _carry_out(
    connection: BaseDatabaseWrapper, statement: str, values: Sequence[object]
) -> Any:
    connection.ensure_connection()
    if connection.queries_logged:
        # As the ORM's are: tests count how many an answer takes.
        connection.queries_log.append({"sql": statement, "time": "0"})
    with connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            from psycopg import Cursor  # noqa: PLC0415 - only where it is used

            return Cursor(connection.connection).execute(
                statement, values, prepare=True, binary=True
            )
        return connection.connection.execute(_for_sqlite(statement), values)


@cache
def _for_sqlite(statement: str) -> str:
    any_of_json = "IN (SELECT value FROM json_each(?))"
    return statement.replace("= ANY(%s)", any_of_json).replace("%s", "?")
