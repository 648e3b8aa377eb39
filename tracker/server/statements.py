"""Executes constant SQL statements without the ORM.

The ORM takes longer to build a statement than the database to execute it. On hot paths
a statement is a constant, which the driver prepares once.
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
    """This thread's connection; Django's proxy looks it up at each access."""

    connection: BaseDatabaseWrapper | None = None


_current = _Current()


def database() -> BaseDatabaseWrapper:
    """Return this thread's connection object."""
    if _current.connection is None:
        _current.connection = connections[DEFAULT_DB_ALIAS]
    return _current.connection


@contextmanager
def using(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Make this thread, and the ORM in it, use another connection within the block."""
    own = database()
    connections[DEFAULT_DB_ALIAS] = _current.connection = connection
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = _current.connection = own


def key(value: UUID) -> UUID | str:
    return value if database().vendor == "postgresql" else value.hex


def key_read(value: UUID | str) -> UUID:
    """Return a row's id from a value of a constant statement."""
    return value if isinstance(value, UUID) else UUID(value)


# Any: numbers or texts.
def many(values: Iterable[Any]) -> list[Any] | str:
    """Return the values in the form that `= ANY(%s)` compares with."""
    listed = list(values)
    if database().vendor == "postgresql":
        return listed
    return orjson.dumps(listed).decode()


def moment(value: datetime) -> datetime | str:
    """Return a UTC time in the form that the database stores; faster than Django's."""
    if database().vendor == "postgresql":
        return value
    return value.replace(tzinfo=None).isoformat(" ")


def moment_read(value: datetime | None) -> datetime | None:
    """Return a column's time in UTC; SQLite returns it without a zone."""
    if value is None or value.tzinfo is not None:
        return value
    return value.replace(tzinfo=UTC)


# Any: the statement's columns.
def one_row(statement: str, values: Sequence[object]) -> tuple[Any, ...] | None:
    """Return the first row of a constant statement."""
    row: tuple[Any, ...] | None = _carry_out(database(), statement, values).fetchone()
    return row


def every_row(
    statement: str, values: Sequence[object], *, run_ids: Collection[UUID] = ()
) -> list[tuple[Any, ...]]:
    """Return all rows of a constant statement, as the driver returns them.

    It may contain `= ANY(%s)`, also on SQLite, for values from `many`, and `run_id IN
    ({runs})`, any number of times, before all other values.
    """
    if "{runs}" in statement:
        keys: list[object] = [key(run_id) for run_id in run_ids] or [None]
        # With an array, PostgreSQL would scan every partition. The list is padded with
        # its last key to a power of two, to limit the number of prepared statements.
        places = 1 << (len(keys) - 1).bit_length()
        keys += keys[-1:] * (places - len(keys))
        values = [*keys * statement.count("{runs}"), *values]
        statement = statement.replace("{runs}", ", ".join(["%s"] * places))
    rows: list[tuple[Any, ...]] = _carry_out(database(), statement, values).fetchall()
    return rows


def carry_out(statement: str, values: Sequence[object]) -> None:
    """Execute a constant statement that writes; requires a transaction."""
    _carry_out(_database_in_transaction(), statement, values)


def changed_rows(statement: str, values: Sequence[object]) -> int:
    """Execute a constant statement that writes; return the number of changed rows.

    On PostgreSQL it needs no transaction: it commits by itself.
    """
    connection = database()
    if connection.vendor != "postgresql":
        connection = _database_in_transaction()
    count: int = _carry_out(connection, statement, values).rowcount
    return count


def carry_out_many(statement: str, rows: Iterable[Sequence[object]]) -> None:
    """Execute a constant statement that writes once per row; requires a transaction."""
    connection = _database_in_transaction()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            from psycopg import Cursor  # noqa: PLC0415 - only for PostgreSQL

            Cursor(connection.connection).executemany(statement, rows)
        else:
            connection.connection.executemany(_for_sqlite(statement), rows)


def _database_in_transaction() -> BaseDatabaseWrapper:
    connection = database()
    if not connection.in_atomic_block:
        # On SQLite, the write lock would not be held.
        raise RuntimeError("writing needs a transaction")
    connection.validate_no_broken_transaction()
    return connection


# Any: a cursor of either driver.
def _carry_out(
    connection: BaseDatabaseWrapper, statement: str, values: Sequence[object]
) -> Any:
    connection.ensure_connection()
    if connection.queries_logged:
        # Logged like the ORM's queries: tests count them.
        connection.queries_log.append({"sql": statement, "time": "0"})
    with connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            from psycopg import Cursor  # noqa: PLC0415 - only for PostgreSQL

            return Cursor(connection.connection).execute(
                statement, values, prepare=True, binary=True
            )
        return connection.connection.execute(_for_sqlite(statement), values)


@cache
def _for_sqlite(statement: str) -> str:
    any_of_json = "IN (SELECT value FROM json_each(?))"
    return statement.replace("= ANY(%s)", any_of_json).replace("%s", "?")
