"""Checks settings of the database and of Redis that affect durability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import redis
from django.db import connection
from django.utils import timezone

from tracker.embedded.sqlite.space import space
from tracker.integrity.connections import look_at_connections
from tracker.integrity.problem import Problem, Severity

# sqlite.org/wal.html#walresetbug
FIXED_SQLITE = (3, 51, 3)
FULL_SYNCHRONOUS = 2
MANY_ROWS = 20
MUCH_FREE_SHARE = 0.25

CRASH_SAFE = ("fsync", "full_page_writes")
TIMEOUTS = ("statement_timeout", "lock_timeout")
ASKED = (
    *CRASH_SAFE,
    *TIMEOUTS,
    "synchronous_commit",
    "data_checksums",
    "idle_in_transaction_session_timeout",
)
LARGEST_SKEW = timedelta(seconds=5)


def sqlite_version_problems(version: tuple[int, ...]) -> Iterator[Problem]:
    if version < FIXED_SQLITE:
        found, fixed = (".".join(map(str, v)) for v in (version, FIXED_SQLITE))
        yield Problem(
            Severity.NOTE,
            "sqlite-version",
            f"SQLite {found}",
            f"before {fixed}, two connections that write at once could damage the file",
            "nothing: Seamark lets one connection write at a time; do not write to the "
            "file with other programs while the server runs",
        )


def sqlite_setting_problems(journal_mode: str, synchronous: int) -> Iterator[Problem]:
    if journal_mode != "wal":
        yield Problem(
            Severity.ERROR,
            "sqlite-journal-mode",
            "SQLite",
            f"the journal mode is {journal_mode}, not wal",
            "stop the server, then run: sqlite3 seamark.sqlite3 'PRAGMA journal_mode=wal'",
        )
    if synchronous < FULL_SYNCHRONOUS:
        yield Problem(
            Severity.ERROR,
            "sqlite-synchronous",
            "SQLite",
            "commits do not wait for the disk, so a power cut loses acknowledged data",
            "set PRAGMA synchronous = FULL",
        )


def space_problems(*, total: int, free: int, is_incremental: bool) -> Iterator[Problem]:
    if not is_incremental:
        yield Problem(
            Severity.NOTE,
            "space-is-kept",
            "SQLite",
            "this file was created by an earlier version and never shrinks; "
            f"{free:,} of its {total:,} bytes are free",
            "stop the server and run `python3 manage.py shrink` once",
        )
    elif free > total * MUCH_FREE_SHARE:
        yield Problem(
            Severity.NOTE,
            "space-is-free",
            "SQLite",
            f"{free:,} of {total:,} bytes are free",
            "nothing: the worker reclaims them gradually",
        )


def check_problems(check: str, answers: list[str]) -> Iterator[Problem]:
    """Convert the result of quick_check or integrity_check to problems."""
    for answer in answers[:MANY_ROWS]:
        if answer != "ok":
            yield Problem(
                Severity.ERROR,
                "sqlite-damaged",
                "SQLite",
                f"{check}: {answer}",
                "stop the server, copy the data folder, and restore the last backup; "
                "`sqlite3 seamark.sqlite3 .recover` saves what can still be read",
            )


def foreign_key_problems(rows: list[tuple[Any, ...]]) -> Iterator[Problem]:
    """Convert the result of foreign_key_check: table, row, referenced table."""
    for table, row, parent, _ in rows[:MANY_ROWS]:
        yield Problem(
            Severity.ERROR,
            "foreign-key",
            f"{table}, row {row}",
            f"refers to a missing row of {parent}",
            "restore the last backup, or delete the row if it is not needed",
        )
    if len(rows) > MANY_ROWS:
        yield Problem(
            Severity.ERROR,
            "foreign-key",
            "SQLite",
            f"{len(rows) - MANY_ROWS:,} more rows refer to missing rows",
            "as above",
        )


def postgresql_problems(settings: Mapping[str, str]) -> Iterator[Problem]:
    for name in CRASH_SAFE:
        if settings[name] == "off":
            yield Problem(
                Severity.ERROR,
                f"postgresql-{name.replace('_', '-')}",
                "PostgreSQL",
                f"{name} is off, so a crash can destroy the database",
                f"run: ALTER SYSTEM SET {name} = on; then SELECT pg_reload_conf()",
            )
    if settings["synchronous_commit"] == "off":
        yield Problem(
            Severity.ERROR,
            "postgresql-synchronous-commit",
            "PostgreSQL",
            "synchronous_commit is off, so a crash loses recently acknowledged data",
            "run: ALTER SYSTEM SET synchronous_commit = on; then SELECT pg_reload_conf()",
        )
    for name in TIMEOUTS:
        if settings[name] == "0":
            yield Problem(
                Severity.WARNING,
                f"postgresql-{name.replace('_', '-')}",
                "PostgreSQL",
                f"{name} is not in effect, although Seamark sets it when it connects",
                "configure the pooler to pass on connection options, or set it "
                "for the role: ALTER ROLE … SET …",
            )
    yield from _postgresql_notes(settings)


def _postgresql_notes(settings: Mapping[str, str]) -> Iterator[Problem]:
    if settings["data_checksums"] == "off":
        yield Problem(
            Severity.NOTE,
            "postgresql-data-checksums",
            "PostgreSQL",
            "data_checksums is off: disk corruption is detected in points, which "
            "have checksums of their own, but not in other rows",
            "stop PostgreSQL and run pg_checksums --enable",
        )
    if settings["idle_in_transaction_session_timeout"] == "0":
        yield Problem(
            Severity.NOTE,
            "postgresql-idle-timeout",
            "PostgreSQL",
            "idle_in_transaction_session_timeout is 0: a client that hangs keeps its "
            "locks forever",
            "set it for the role: ALTER ROLE … SET idle_in_transaction_session_timeout "
            "= '60s'",
        )


def skew_problems(skew: timedelta) -> Iterator[Problem]:
    if abs(skew) > LARGEST_SKEW:
        yield Problem(
            Severity.WARNING,
            "clock-skew",
            "PostgreSQL",
            f"its clock differs from this machine's by {abs(skew).total_seconds():.0f} s",
            "synchronize both clocks (NTP): leases and silence are judged by them",
        )


def redis_problems(policy: str) -> Iterator[Problem]:
    if policy != "noeviction":
        yield Problem(
            Severity.WARNING,
            "redis-evicts",
            "Redis",
            f"its maxmemory-policy is {policy}: it drops messages when memory is low, "
            "which delays background work",
            "run: CONFIG SET maxmemory-policy noeviction",
        )


def look_at_database(*, is_thorough: bool) -> Iterator[Problem]:
    """Query the database for its settings and integrity."""
    if connection.vendor == "postgresql":
        yield from postgresql_problems(
            {name: str(_ask(f"SHOW {name}")[0][0]) for name in ASKED}
        )
        now = _ask("SELECT clock_timestamp()")[0][0]
        yield from skew_problems(now - timezone.now())
        yield from look_at_connections()
        return

    check = "integrity_check" if is_thorough else "quick_check"
    version = _ask("SELECT sqlite_version()")[0][0]
    yield from sqlite_version_problems(tuple(map(int, version.split("."))))
    yield from sqlite_setting_problems(
        _ask("PRAGMA journal_mode")[0][0], _ask("PRAGMA synchronous")[0][0]
    )
    found = space()
    assert found is not None
    yield from space_problems(
        total=found.total, free=found.free, is_incremental=found.is_incremental
    )
    yield from check_problems(check, [row[0] for row in _ask(f"PRAGMA {check}")])
    yield from foreign_key_problems(_ask("PRAGMA foreign_key_check"))


def look_at_redis(url: str) -> Iterator[Problem]:
    try:
        with redis.Redis.from_url(url, socket_timeout=5) as client:
            policy = client.config_get("maxmemory-policy").get("maxmemory-policy")
    except redis.ResponseError:
        policy = None  # managed servers do not report their configuration
    except redis.RedisError as error:
        yield Problem(
            Severity.ERROR,
            "redis-away",
            "Redis",
            f"it is not reachable: {error}",
            "start it, or correct SEAMARK_REDIS_URL: background work needs it",
        )
        return
    if policy is not None:
        yield from redis_problems(str(policy))


def _ask(question: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(question)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
