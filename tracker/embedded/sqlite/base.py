"""SQLite with one writer at a time, across all threads and processes.

SQLite before 3.51.3 can corrupt a database in WAL mode when two connections write or
checkpoint at the same moment (sqlite.org/wal.html#walresetbug), and most machines have
an older one. So a writer holds a lock on a file next to the database, from BEGIN until
COMMIT, which also runs the automatic checkpoint. Readers take no lock. Closing takes
none either: the last connection checkpoints while it closes, but SQLite does that only
under its own exclusive lock, which no other open connection allows.

Every `atomic()` begins with BEGIN IMMEDIATE and therefore waits for the writer before
it: leave reads outside.
"""

from __future__ import annotations

import re
import sqlite3
import sys
import threading
from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

from django.db import Error
from django.db.backends.sqlite3 import base

from tracker.embedded.sqlite.writer_lock import WriterLock
from tracker.patterns import matcher

READS = re.compile(r"\s*(SELECT|EXPLAIN|PRAGMA|BEGIN|SAVEPOINT|RELEASE|VALUES)\b", re.I)
PRAGMAS_THAT_WRITE = re.compile(r"\s*PRAGMA\s.*(checkpoint|journal_mode|vacuum)", re.I)


def only_reads(statement: str) -> bool:
    return bool(READS.match(statement)) and not PRAGMAS_THAT_WRITE.match(statement)


def lay_out(path: Path, lock: WriterLock) -> None:
    """Create a new file with incremental vacuum, which later requires a full VACUUM.

    Setting it on every connection would write each time, outside the lock.
    """
    if _has_content(path):
        return
    with lock.held():
        if _has_content(path):
            return  # another process created it
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            # Writes the first page, which stores the setting.
            connection.execute("PRAGMA journal_mode = WAL")


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def holds_folded(text: str | None, needle: str) -> bool | None:
    """Return whether a text contains a folded one, ignoring case.

    It replaces PostgreSQL's LIKE: SQLite's LIKE ignores case only from A to Z.
    """
    return None if text is None else needle in text.casefold()


def matches_pattern(text: str | None, pattern: str) -> bool | None:
    """Return whether a text matches a regular expression; NULL has no result."""
    return None if text is None else matcher(pattern)(text) is not None


class PackedNumbers:
    """An aggregate that returns a column of numbers as bytes.

    Appending directly to an array is twice as fast as fetching rows.
    """

    def __init__(self) -> None:
        self._numbers = array("d")
        self.step = self._numbers.append

    def finalize(self) -> bytes:
        if sys.byteorder == "little":
            self._numbers.byteswap()
        return self._numbers.tobytes()


class SingleWriterCursor(base.SQLiteCursorWrapper):
    """Holds the lock around each write that commits by itself."""

    lock: WriterLock
    rows: Iterator[Any] | None = None

    # Any parameters that sqlite3 accepts.
    def execute(self, query: str, params: Any = None) -> SingleWriterCursor:
        self.rows = None
        if self.connection.in_transaction or only_reads(query):
            super().execute(query, params)
            return self

        with self.lock.held():
            super().execute(query, params)
            if self.description is not None:
                # RETURNING: SQLite commits once the last row has been fetched.
                self.rows = iter(super().fetchall())
        return self

    def executemany(self, query: str, param_list: Iterable[Any]) -> SingleWriterCursor:
        self.rows = None
        if self.connection.in_transaction:
            super().executemany(query, param_list)
        else:
            with self.lock.held():
                super().executemany(query, param_list)
        return self

    def fetchone(self) -> Any:
        return super().fetchone() if self.rows is None else next(self.rows, None)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        size = self.arraysize if size is None else size
        if self.rows is None:
            return super().fetchmany(size)
        return [row for _, row in zip(range(size), self.rows, strict=False)]

    def fetchall(self) -> list[Any]:
        return super().fetchall() if self.rows is None else list(self.rows)

    def __next__(self) -> Any:
        return super().__next__() if self.rows is None else next(self.rows)


class ThreadConnections(WeakSet["DatabaseWrapper"]):
    """Queues a thread's connections for closing when the thread ends.

    A wrapper refers to itself. Without this, its connection and page cache stay until
    the garbage collector runs. Closing here would crash Python before 3.12.4 in threads
    that Python did not start: github.com/python/cpython/issues/119585.
    """

    def __del__(self) -> None:
        _orphans.extend(self)


class CurrentThread(threading.local):
    def __init__(self) -> None:
        self.connections = ThreadConnections()


_current_thread = CurrentThread()
# Connections of threads that ended; the next request of any thread closes them.
_orphans: deque[DatabaseWrapper] = deque()


def close_orphans() -> None:
    while _orphans:
        with suppress(IndexError):  # another thread closed it
            orphan = _orphans.popleft()
            orphan.inc_thread_sharing()
            orphan.close()


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's SQLite backend, with the lock around its transactions."""

    connection: Any  # a sqlite3.Connection, or None before connect()
    lock: WriterLock

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        name = None if self.is_in_memory_db() else self.settings_dict["NAME"]
        self.lock = WriterLock(
            name and f"{name}-writer",
            timeout_seconds=conn_params.get("timeout", 5.0),
        )
        if name is not None:
            lay_out(Path(name), self.lock)
        connection = super().get_new_connection(conn_params)
        if not self.allow_thread_sharing:
            _current_thread.connections.add(self)
        connection.create_function("holds_folded", 2, holds_folded, deterministic=True)
        connection.create_function(
            "matches_pattern", 2, matches_pattern, deterministic=True
        )
        connection.create_aggregate("packed_numbers", 1, PackedNumbers)
        return connection

    def create_cursor(self, _name: str | None = None) -> SingleWriterCursor:
        cursor: SingleWriterCursor = self.connection.cursor(factory=SingleWriterCursor)
        cursor.lock = self.lock
        return cursor

    def close_if_unusable_or_obsolete(self) -> None:
        close_orphans()
        super().close_if_unusable_or_obsolete()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc] # not in the stubs
        finally:
            self.lock.release()

    def _start_transaction_under_autocommit(self) -> None:
        self.lock.acquire()
        with self.released_after():
            super()._start_transaction_under_autocommit()  # type: ignore[misc] # not in the stubs

    def _commit(self) -> None:
        with self.released_after():
            super()._commit()  # type: ignore[misc] # not in the stubs

    def _rollback(self) -> None:
        with self.released_after():
            super()._rollback()  # type: ignore[misc] # not in the stubs

    @contextmanager
    def plain_transaction(self) -> Iterator[None]:
        """A faster `atomic()` for the outermost transaction, in half of its time.

        Inside, `atomic()` creates savepoints as usual.
        """
        self.validate_no_atomic_block()
        self.ensure_connection()
        self.lock.acquire()
        with self.released_after(), self.wrap_database_errors:
            self.connection.execute("BEGIN IMMEDIATE")
        self.autocommit, self.needs_rollback, self.in_atomic_block = False, False, True
        try:
            try:
                yield
            finally:
                self.autocommit, self.in_atomic_block = True, False
            self._commit()
        except BaseException:
            try:
                self.rollback()
            except Error:
                # Its state is unknown, so it is not reused.
                self.close()
            raise
        if self.run_on_commit:
            self.run_and_clear_commit_hooks()

    @contextmanager
    def released_after(self) -> Iterator[None]:
        """Release the lock unless a transaction is open when the block ends."""
        try:
            yield
        finally:
            # A failed COMMIT leaves the transaction open; the ROLLBACK then releases
            # the lock.
            if self.connection is None or not self.connection.in_transaction:
                self.lock.release()
