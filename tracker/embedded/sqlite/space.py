"""Returns the space of deleted data to the disk, on SQLite.

A file created by this version can shrink by a few pages at a time, each in a
transaction too short for other writers to notice. Older files need `manage.py shrink`
first.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import cast

from django.db import connections

from tracker.embedded.sqlite.base import DatabaseWrapper

INCREMENTAL = 2
# Each step takes about this long.
STEP_SECONDS = 0.01
FEWEST_PAGES, MAX_PAGES = 16, 4_096
# Between steps other writers get more time than the step took.
SHORTEST_PAUSE_SECONDS = 0.02
PAUSE_FACTOR = 2


@dataclass(frozen=True, slots=True)
class Space:
    """The size of the file and its unused part, in bytes."""

    total: int
    free: int
    page: int
    # Whether space can be returned in small steps.
    is_incremental: bool


@dataclass(frozen=True, slots=True)
class Given:
    """The returned bytes, and the longest time that writers waited."""

    bytes: int = 0
    longest_seconds: float = 0.0


def space() -> Space | None:
    """Return the space of the database file; None if it is not SQLite."""
    if connections["default"].vendor != "sqlite":
        return None
    page = _pragma("page_size")
    return Space(
        total=_pragma("page_count") * page,
        free=_pragma("freelist_count") * page,
        page=page,
        is_incremental=_pragma("auto_vacuum") == INCREMENTAL,
    )


def give_space_back(seconds: float) -> Given:
    """Shrink the file for up to `seconds`, with pauses for other writers."""
    before = space()
    if before is None or not before.is_incremental or not before.free:
        return Given()

    deadline = time.monotonic() + seconds
    pages, longest = FEWEST_PAGES, 0.0
    while _pragma("freelist_count") and time.monotonic() < deadline:
        took = _step(f"PRAGMA incremental_vacuum({pages})")
        longest = max(longest, took)
        fitting = int(pages * min(2.0, STEP_SECONDS / max(took, 1e-6)))
        pages = min(max(fitting, FEWEST_PAGES), MAX_PAGES)
        time.sleep(max(PAUSE_FACTOR * took, SHORTEST_PAUSE_SECONDS))
    # The file is truncated when its log has been checkpointed.
    longest = max(longest, _step("PRAGMA wal_checkpoint(PASSIVE)"))
    after = space()
    assert after is not None
    return Given(before.total - after.total, longest)


def rewrite() -> None:
    """Rewrite the file without gaps, blocking all other writers."""
    with connections["default"].cursor() as cursor:
        cursor.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _step(statement: str) -> float:
    """Run one step in its own transaction; return how long writers waited."""
    database = cast(DatabaseWrapper, connections["default"])
    database.ensure_connection()
    if database.in_atomic_block:
        raise RuntimeError("space is given back outside of transactions")
    with database.lock.held():
        start = time.monotonic()
        # As a script: a cursor would stop after the first page.
        database.connection.executescript(statement)
        return time.monotonic() - start


def _pragma(name: str) -> int:
    with connections["default"].cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        number: int = cursor.fetchone()[0]
    return number
