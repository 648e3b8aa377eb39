"""One row per batch, unchanged, and as durable as the tracker's own rows.

Without summaries, compression, validation and accounts: the cost is that of the
machine, HTTP and the database.
"""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Protocol

import psycopg

# Rows of one answer, so that a server does not hold a whole run in memory.
PAGE_ROWS = 500
SQLITE_SETTINGS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA busy_timeout = 20000;
PRAGMA cache_size = -32000;
"""


class Storage(Protocol):
    """Where rows lie; every method may be called from any thread."""

    def prepare(self) -> None:
        """Make the table."""

    def write(self, run: str, data: bytes) -> None:
        """Store one row durably."""

    def read(self, run: str, after: int) -> list[tuple[int, bytes]]:
        """Return the run's next rows and their ids, at most a page of them."""


class SqliteStorage:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        # SQLite lets one write and has the others poll, which is slower than a lock.
        self._writing = threading.Lock()

    def prepare(self) -> None:
        self._connection().execute(
            "CREATE TABLE IF NOT EXISTS batch"
            " (id INTEGER PRIMARY KEY, run TEXT NOT NULL, data BLOB NOT NULL)"
        )
        self._connection().execute(
            "CREATE INDEX IF NOT EXISTS batch_run ON batch (run, id)"
        )

    def write(self, run: str, data: bytes) -> None:
        with self._writing:
            self._connection().execute(
                "INSERT INTO batch (run, data) VALUES (?, ?)", (run, data)
            )

    def read(self, run: str, after: int) -> list[tuple[int, bytes]]:
        return (
            self._connection()
            .execute(
                "SELECT id, data FROM batch WHERE run = ? AND id > ? ORDER BY id LIMIT ?",
                (run, after, PAGE_ROWS),
            )
            .fetchall()
        )

    def _connection(self) -> sqlite3.Connection:
        if not hasattr(self._local, "connection"):
            # Without a transaction around it, each statement is one commit.
            self._local.connection = sqlite3.connect(self._path, isolation_level=None)
            self._local.connection.executescript(SQLITE_SETTINGS)
        connection: sqlite3.Connection = self._local.connection
        return connection


class PostgresStorage:
    def __init__(self, url: str) -> None:
        self._url = url
        self._local = threading.local()

    def prepare(self) -> None:
        self._connection().execute(
            "CREATE TABLE IF NOT EXISTS batch (id BIGINT GENERATED ALWAYS AS IDENTITY"
            " PRIMARY KEY, run TEXT NOT NULL, data BYTEA NOT NULL)"
        )
        # Without PostgreSQL's compression of long values, like the tracker's rows.
        self._connection().execute(
            "ALTER TABLE batch ALTER COLUMN data SET STORAGE EXTERNAL"
        )
        self._connection().execute(
            "CREATE INDEX IF NOT EXISTS batch_run ON batch (run, id)"
        )

    def write(self, run: str, data: bytes) -> None:
        self._connection().execute(
            "INSERT INTO batch (run, data) VALUES (%b, %b)", (run, data)
        )

    def read(self, run: str, after: int) -> list[tuple[int, bytes]]:
        with self._connection().cursor(binary=True) as cursor:
            cursor.execute(
                "SELECT id, data FROM batch"
                " WHERE run = %s AND id > %s ORDER BY id LIMIT %s",
                (run, after, PAGE_ROWS),
            )
            return cursor.fetchall()

    def _connection(self) -> psycopg.Connection:
        if not hasattr(self._local, "connection"):
            self._local.connection = psycopg.connect(self._url, autocommit=True)
        connection: psycopg.Connection = self._local.connection
        return connection


def open_storage(url: str) -> Storage:
    """Return the storage that `sqlite:<path>` or a PostgreSQL address names."""
    if url.startswith("sqlite:"):
        return SqliteStorage(Path(url.removeprefix("sqlite:")))
    return PostgresStorage(url)
