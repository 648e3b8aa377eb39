"""Carries out statements that are written out, without the ORM.

The ORM takes longer to build a statement than the database to carry it out. Where that
counts, a statement is a constant, prepared once by the database's driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection


def key(value: UUID) -> UUID | str:
    return value if connection.features.has_native_uuid_field else value.hex


# Any: a text for SQLite, and a datetime for PostgreSQL, whatever the stubs say.
def moment(value: datetime) -> Any:
    adapted: Any = connection.ops.adapt_datetimefield_value(value)
    return adapted


# Any: a row is what the statement's columns are.
def one_row(statement: str, values: Sequence[object]) -> tuple[Any, ...] | None:
    """Return the first row of what a constant statement selects."""
    row: tuple[Any, ...] | None = _carry_out(statement, values).fetchone()
    return row


def carry_out(statement: str, values: Sequence[object]) -> None:
    """Carry out a constant statement that writes; only inside a transaction."""
    if not connection.in_atomic_block:
        # On SQLite, nobody would have asked for the writer's lock.
        raise RuntimeError("writing needs a transaction")
    _carry_out(statement, values)


def carry_out_many(statement: str, rows: Iterable[Sequence[object]]) -> None:
    """Carry out a constant statement that writes for each row of values; likewise."""
    if not connection.in_atomic_block:
        raise RuntimeError("writing needs a transaction")
    connection.ensure_connection()
    with connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            from psycopg import Cursor  # noqa: PLC0415 - only where it is used

            Cursor(connection.connection).executemany(statement, rows)
        else:
            connection.connection.executemany(_with_question_marks(statement), rows)


# Any: a cursor of either driver.
def _carry_out(statement: str, values: Sequence[object]) -> Any:
    connection.ensure_connection()
    with connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            from psycopg import Cursor  # noqa: PLC0415 - only where it is used

            return Cursor(connection.connection).execute(
                statement, values, prepare=True, binary=True
            )
        return connection.connection.execute(_with_question_marks(statement), values)


@cache
def _with_question_marks(statement: str) -> str:
    return statement.replace("%s", "?")
