"""All writes of ingest and compaction hold one lock, for SQLite before 3.51.3.

These versions can corrupt a file in WAL mode if two connections write or checkpoint at
the same time (sqlite.org/wal.html#walresetbug).
"""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.utils import ConnectionHandler

from tests.builders import Process, make_member, make_project, points_message
from tracker.embedded.sqlite.base import only_reads
from tracker.series.compaction import compact_run

OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
}
INSERT = "INSERT INTO point (number) VALUES (%s)"


def is_locked(path: Path | str) -> bool:
    with Path(f"{path}-writer").open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@contextmanager
def traced(raw: sqlite3.Connection, path: Path | str) -> Iterator[dict[str, bool]]:
    """Record for each SQLite statement whether the lock is held."""
    seen: dict[str, bool] = {}

    def note(statement: str) -> None:
        seen[statement] = seen.get(statement, True) and is_locked(path)

    raw.set_trace_callback(note)
    try:
        yield seen
    finally:
        raw.set_trace_callback(None)


def unlocked_writes(seen: dict[str, bool]) -> list[str]:
    # SQLite traces triggers and foreign keys as comments of the same statement.
    return [
        text
        for text, held in seen.items()
        if not held and not only_reads(text) and not text.startswith("--")
    ]


@pytest.fixture
def other(tmp_path, django_db_blocker):
    """A connection to a separate file, outside of the tests' transaction."""
    settings = {
        "ENGINE": "tracker.embedded.sqlite",
        "NAME": str(tmp_path / "test.sqlite3"),
        "OPTIONS": OPTIONS,
    }
    with django_db_blocker.unblock():
        other = ConnectionHandler({"default": settings})["default"]
        with other.cursor() as cursor:
            cursor.execute("CREATE TABLE point (number)")
        yield other
        other.close()


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda cursor: cursor.execute(INSERT, [1]), id="insert"),
        pytest.param(
            lambda cursor: cursor.executemany(INSERT, [[1], [2]]), id="insert many"
        ),
        pytest.param(
            lambda cursor: cursor.execute(f"{INSERT} RETURNING number", [1]).fetchall(),
            id="insert and return",
        ),
        pytest.param(
            lambda cursor: cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)"),
            id="checkpoint",
        ),
        pytest.param(lambda cursor: cursor.execute("VACUUM"), id="vacuum"),
        pytest.param(
            lambda cursor: cursor.execute("CREATE INDEX by_number ON point (number)"),
            id="schema",
        ),
    ],
)
def test_a_write_outside_of_a_transaction_is_under_the_lock(other, write):
    path = other.settings_dict["NAME"]

    with traced(other.connection, path) as seen, other.cursor() as cursor:
        write(cursor)

    assert seen
    assert all(seen.values())
    assert not is_locked(path)


def test_the_trace_sees_a_write_that_goes_without_the_lock(other):
    path = other.settings_dict["NAME"]

    with traced(other.connection, path) as seen:
        other.connection.execute("INSERT INTO point VALUES (1)")

    assert unlocked_writes(seen) == ["INSERT INTO point VALUES (1)"]
    other.connection.rollback()


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgresql
def test_all_that_ingest_and_compaction_write_is_under_the_lock():
    if connection.vendor != "sqlite":
        pytest.skip("speaks about SQLite only")
    process = Process(make_project(make_member()), "traced")
    raw = connection.connection
    with traced(raw, connection.settings_dict["NAME"]) as seen:
        process.open()
        for step in range(3):
            process.send([points_message("x", [1.0, 2.0], steps=[step, step])])
            compact_run(process.run.id)
        with transaction.atomic():
            process.run.delete()

    assert any(text.startswith("COMMIT") for text in seen)
    assert unlocked_writes(seen) == []
