"""Gives the space of what was deleted back to the disk, on SQLite.

A file made by this version can be made smaller a few pages at a time, each time in a
transaction that is over before other writers notice. Older files cannot, until
`manage.py shrink` has written them anew.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import cast

from django.db import connections

from tracker.embedded.sqlite.base import DatabaseWrapper

INCREMENTAL = 2
# Steps are made as large as can be done in about this time.
STEP_SECONDS = 0.01
FEWEST_PAGES, MAX_PAGES = 16, 4_096
# Between two steps others write, for longer than the step took.
SHORTEST_PAUSE_SECONDS = 0.02
PAUSE_FACTOR = 2


@dataclass(frozen=True, slots=True)
class Space:
    """How large the file is, and how much of it holds nothing, in bytes."""

    total: int
    free: int
    page: int
    # Whether it can be given back in small steps.
    is_incremental: bool


@dataclass(frozen=True, slots=True)
class Given:
    """What was given back, and for how long writers had to wait at most."""

    bytes: int = 0
    longest_seconds: float = 0.0


def space() -> Space | None:
    """Return the space of the database's file; None where it is not SQLite's."""
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
    """Make the file smaller, for so long, letting other writers in between."""
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
    # The file ends where it should once its log has been written into it.
    longest = max(longest, _step("PRAGMA wal_checkpoint(PASSIVE)"))
    after = space()
    assert after is not None
    return Given(before.total - after.total, longest)


def rewrite() -> None:
    """Write the file anew, without gaps; nobody else can write meanwhile."""
    with connections["default"].cursor() as cursor:
        cursor.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _step(statement: str) -> float:
    """Do one step, in a transaction of its own; return how long writers waited."""
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
