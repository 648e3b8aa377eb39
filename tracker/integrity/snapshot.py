"""Lets many statements see the database as it was at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

LONGEST_STATEMENT = "15min"


@contextmanager
def snapshot() -> Iterator[None]:
    """Read without seeing what others write meanwhile; nobody waits for it.

    Within a transaction there already is what it offers, or as good.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute(f"SET LOCAL statement_timeout = '{LONGEST_STATEMENT}'")
            yield
    else:
        # Not `atomic()`, which would keep writers out.
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
