"""Only one thread or process writes at a time, and none gets "database is locked"."""

from __future__ import annotations

import fcntl
import gc
import sqlite3
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest
from django.db import OperationalError, transaction
from django.db.utils import ConnectionHandler

from tracker.embedded.sqlite.base import only_reads

OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
}
INSERT = "INSERT INTO point (writer, number) VALUES (%s, %s)"

# Writes half of its rows one by one and half in transactions, in a subprocess.
WRITER = """
import sys
from django.conf import settings
path, writer, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
settings.configure(DATABASES={"default": {
    "ENGINE": "tracker.embedded.sqlite", "NAME": path, "OPTIONS": %r}})
from django.db import connection, transaction
for number in range(count):
    with connection.cursor() as cursor:
        if number %% 2:
            cursor.execute(%r, [writer, number])
        else:
            with transaction.atomic():
                cursor.execute("SELECT COUNT(*) FROM point")
                cursor.execute(%r, [writer, number])
connection.close()
""" % (OPTIONS, INSERT, INSERT)  # noqa: UP031 - the text is full of braces


class Database:
    """A database file; each thread gets its own connection."""

    def __init__(self, path):
        self.path = path
        self.handler = ConnectionHandler({"default": self.settings()})

    def settings(self, **options):
        return {
            "ENGINE": "tracker.embedded.sqlite",
            "NAME": str(self.path),
            "OPTIONS": {**OPTIONS, **options},
        }

    @property
    def connection(self):
        return self.handler["default"]

    def other(self, **options):
        return ConnectionHandler({"default": self.settings(**options)})["default"]

    def rows(self):
        with self.connection.cursor() as cursor:
            return cursor.execute("SELECT writer, number FROM point").fetchall()


@pytest.fixture
def database(tmp_path, django_db_blocker):
    database = Database(tmp_path / "test.sqlite3")
    with django_db_blocker.unblock():
        with database.connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE point (id INTEGER PRIMARY KEY, writer, number)"
            )
        yield database
        database.connection.close()


@pytest.fixture
def atomic(database):
    """Return a function that opens a transaction on a given connection."""

    def begin(connection):
        # atomic() finds connections by name in Django's own handler.
        connection.set_autocommit(
            False, force_begin_transaction_with_broken_autocommit=True
        )

    return begin


def write_in_turns(database, writer, count):
    connection = database.connection
    for number in range(count):
        with connection.cursor() as cursor:
            if number % 2:
                cursor.execute(INSERT, [writer, number])
                continue
            connection.set_autocommit(
                False, force_begin_transaction_with_broken_autocommit=True
            )
            cursor.execute("SELECT COUNT(*) FROM point").fetchall()
            cursor.execute(INSERT, [writer, number])
            connection.commit()
            connection.set_autocommit(True)
    connection.close()


@pytest.mark.processes
def test_eight_threads_and_three_processes_write_every_row_once(database):
    threads = [
        threading.Thread(target=write_in_turns, args=(database, f"thread {n}", 100))
        for n in range(8)
    ]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(database.path), f"process {n}", "100"],
            stderr=subprocess.PIPE,
        )
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failures = [process.communicate()[1] for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0], failures
    rows = database.rows()
    assert len(rows) == len(set(rows)) == 11 * 100
    with database.connection.cursor() as cursor:
        assert cursor.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def is_locked(database):
    with Path(f"{database.path}-writer").open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_the_lock_is_held_from_begin_to_commit(database, atomic):
    seen = [is_locked(database)]
    atomic(database.connection)
    seen.append(is_locked(database))
    database.connection.commit()
    seen.append(is_locked(database))
    database.connection.set_autocommit(True)

    assert seen == [False, True, False]


def test_the_lock_is_held_while_a_single_write_commits(database):
    seen = []
    with database.connection.cursor() as cursor:
        database.connection.connection.create_function(
            "seen", 0, lambda: seen.append(is_locked(database))
        )
        cursor.execute("INSERT INTO point (writer, number) SELECT seen(), 1")
        cursor.execute("SELECT seen()").fetchall()

    assert seen == [True, False]


def test_closing_does_not_wait_for_the_writer(database, atomic):
    atomic(database.connection)
    other = database.other(timeout=3600)
    other.ensure_connection()

    ended = ends_in_another_thread(other.close, other)

    database.connection.rollback()
    database.connection.set_autocommit(True)
    assert ended
    assert other.connection is None


def test_garbage_collection_does_not_wait_for_the_writer(database, atomic):
    dead = database.other(timeout=3600)
    with dead.cursor() as cursor:
        cursor.execute(INSERT, ["dead", 1])
    is_gone = weakref.ref(dead)
    atomic(database.connection)

    del dead, cursor
    ended = ends_in_another_thread(gc.collect)

    database.connection.rollback()
    database.connection.set_autocommit(True)
    assert ended
    assert is_gone() is None


def test_connections_of_threads_that_ended_close_with_the_next_request(database):
    opened = []

    def work():
        with database.connection.cursor() as cursor:
            cursor.execute(INSERT, ["thread", 1])
        opened.append(database.connection.connection)

    gc.disable()
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        database.connection.close_if_unusable_or_obsolete()

        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            opened[0].execute("SELECT 1")
    finally:
        gc.enable()


def ends_in_another_thread(work, connection=None):
    if connection is not None:
        connection.inc_thread_sharing()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(10)
    return not thread.is_alive()


def test_a_reader_never_waits_for_a_writer(database, atomic):
    writer = database.connection
    atomic(writer)
    with writer.cursor() as cursor:
        cursor.execute(INSERT, ["writer", 1])
    reader = database.other(timeout=0.1)

    with reader.cursor() as cursor:
        rows = cursor.execute("SELECT * FROM point").fetchall()
    writer.rollback()
    writer.set_autocommit(True)

    assert rows == []
    reader.close()


def test_a_second_writer_waits_for_the_first(database, atomic):
    first, second = database.connection, database.other()
    atomic(first)
    waited = []

    def write():
        start = time.monotonic()
        with second.cursor() as cursor:
            cursor.execute(INSERT, ["second", 1])
        waited.append(time.monotonic() - start)

    second.inc_thread_sharing()
    thread = threading.Thread(target=write)
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    first.commit()
    first.set_autocommit(True)
    thread.join()

    assert waited[0] > 0.1
    assert database.rows() == [("second", 1)]
    second.close()


def test_a_lock_timeout_raises_the_error_of_sqlite(database, atomic):
    first, second = database.connection, database.other(timeout=0.05)
    atomic(first)

    with (
        pytest.raises(OperationalError, match="database is locked"),
        second.cursor() as cursor,
    ):
        cursor.execute(INSERT, ["second", 1])

    first.rollback()
    first.set_autocommit(True)
    second.close()


@pytest.mark.parametrize("end", ["commit", "rollback", "close"])
def test_the_lock_is_free_when_a_transaction_has_ended(database, atomic, end):
    first, second = database.connection, database.other(timeout=0.05)
    atomic(first)
    with first.cursor() as cursor:
        cursor.execute(INSERT, ["first", 1])

    getattr(first, end)()

    with second.cursor() as cursor:
        cursor.execute(INSERT, ["second", 1])
    second.close()


def test_the_lock_is_free_after_a_write_that_failed(database):
    first, second = database.connection, database.other(timeout=0.05)

    with pytest.raises(OperationalError), first.cursor() as cursor:
        cursor.execute("INSERT INTO nowhere VALUES (1)")

    with second.cursor() as cursor:
        cursor.execute(INSERT, ["second", 1])
    second.close()


def test_returned_rows_are_all_there_and_committed(database):
    other = database.other()

    with database.connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO point (writer, number) VALUES (1, 1), (2, 2), (3, 3)"
            " RETURNING writer"
        )
        with other.cursor() as reader:
            count = reader.execute("SELECT COUNT(*) FROM point").fetchone()
        returned = [cursor.fetchone(), *cursor.fetchmany(1), *cursor]

    assert count == (3,)
    assert returned == [(1,), (2,), (3,)]
    other.close()


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        ("SELECT 1", True),
        (" select 1", True),
        ("EXPLAIN QUERY PLAN SELECT 1", True),
        ("PRAGMA foreign_keys = OFF", True),
        ("PRAGMA wal_checkpoint(TRUNCATE)", False),
        ("PRAGMA journal_mode = WAL", False),
        ("INSERT INTO point VALUES (1)", False),
        ("WITH one AS (SELECT 1) INSERT INTO point SELECT * FROM one", False),
        ("selection", False),
        ("VACUUM", False),
    ],
)
def test_only_what_surely_reads_goes_without_the_lock(statement, reads):
    assert only_reads(statement) is reads


@pytest.mark.django_db(transaction=True)
@pytest.mark.database
def test_transactions_of_django_hold_and_release_the_lock():
    from django.db import connection

    if connection.vendor != "sqlite":
        pytest.skip("speaks about SQLite only")
    with transaction.atomic():
        with transaction.atomic():
            held_inside = connection.lock.is_held
        held_after_the_inner = connection.lock.is_held

    assert held_inside
    assert held_after_the_inner
    assert not connection.lock.is_held
