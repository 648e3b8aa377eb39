"""Gives several statements one consistent view of the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

LONGEST_STATEMENT = "15min"


@contextmanager
def snapshot() -> Iterator[None]:
    """Read one snapshot within the block, without blocking writers.

    Inside a transaction it does nothing.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute(f"SET LOCAL statement_timeout = '{LONGEST_STATEMENT}'")
            yield
    else:
        # Not `atomic()`, which would block writers.
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
