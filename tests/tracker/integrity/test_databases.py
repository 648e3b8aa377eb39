"""Dangerous settings of the database and of Redis are reported."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta

import psycopg
import pytest
import redis
from django.conf import settings as django_settings

from tests.services import PostgreSQL
from tracker.integrity.databases import (
    ASKED,
    MANY_ROWS,
    check_problems,
    foreign_key_problems,
    look_at_database,
    look_at_redis,
    postgresql_problems,
    redis_problems,
    skew_problems,
    space_problems,
    sqlite_setting_problems,
    sqlite_version_problems,
)
from tracker.integrity.problem import Severity

SAFE = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "data_checksums": "on",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "1min",
}


def codes(problems):
    return {problem.code: problem.severity for problem in problems}


@pytest.mark.parametrize(
    ("version", "is_old"),
    [((3, 40, 1), True), ((3, 51, 2), True), ((3, 51, 3), False), ((3, 52), False)],
)
def test_an_old_sqlite_is_noted_with_what_we_do_about_it(version, is_old):
    found = list(sqlite_version_problems(version))

    assert [problem.severity for problem in found] == [Severity.NOTE] * is_old
    assert all("one connection write at a time" in problem.advice for problem in found)


def test_a_journal_or_commits_that_a_crash_would_lose_are_errors():
    assert codes(sqlite_setting_problems("wal", 2)) == {}
    assert codes(sqlite_setting_problems("delete", 1)) == {
        "sqlite-journal-mode": Severity.ERROR,
        "sqlite-synchronous": Severity.ERROR,
    }


@pytest.mark.parametrize(
    ("free", "is_incremental", "code"),
    [
        (0, True, None),
        (10, True, None),
        (90, True, "space-is-free"),
        (0, False, "space-is-kept"),
    ],
)
def test_space_that_does_not_come_back_is_noted(free, is_incremental, code):
    found = space_problems(total=100, free=free, is_incremental=is_incremental)

    assert codes(found) == ({code: Severity.NOTE} if code else {})


def test_results_of_the_sqlite_check_are_reported():
    assert codes(check_problems("quick_check", ["ok"])) == {}
    found = list(check_problems("quick_check", ["row 1 missing from index x"] * 99))
    assert len(found) == MANY_ROWS
    assert "row 1 missing from index x" in found[0].what


def test_rows_with_broken_references_are_reported():
    rows = [("tracker_spool", number, "tracker_run", 0) for number in range(30)]

    found = list(foreign_key_problems(rows))

    assert found[0].where == "tracker_spool, row 0"
    assert "10 more rows" in found[-1].what
    assert list(foreign_key_problems([])) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {}),
        ({"fsync": "off"}, {"postgresql-fsync": Severity.ERROR}),
        ({"full_page_writes": "off"}, {"postgresql-full-page-writes": Severity.ERROR}),
        (
            {"synchronous_commit": "off"},
            {"postgresql-synchronous-commit": Severity.ERROR},
        ),
        (
            {"statement_timeout": "0"},
            {"postgresql-statement-timeout": Severity.WARNING},
        ),
        ({"lock_timeout": "0"}, {"postgresql-lock-timeout": Severity.WARNING}),
        ({"data_checksums": "off"}, {"postgresql-data-checksums": Severity.NOTE}),
        (
            {"idle_in_transaction_session_timeout": "0"},
            {"postgresql-idle-timeout": Severity.NOTE},
        ),
    ],
)
def test_settings_of_postgresql_are_judged(changes, expected):
    assert codes(postgresql_problems(SAFE | changes)) == expected


def test_clocks_that_differ_are_named():
    assert codes(skew_problems(timedelta(seconds=-6))) == {
        "clock-skew": Severity.WARNING
    }
    assert codes(skew_problems(timedelta(seconds=1))) == {}


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_redis_that_forgets_is_named(policy):
    assert codes(redis_problems(policy)) == {"redis-evicts": Severity.WARNING}
    assert codes(redis_problems("noeviction")) == {}


@pytest.mark.django_db
@pytest.mark.database
@pytest.mark.parametrize("is_thorough", [False, True])
def test_this_database_is_asked(is_thorough):
    found = codes(look_at_database(is_thorough=is_thorough))

    if django_settings.IS_SQLITE:
        assert Severity.ERROR not in found.values()
        assert Severity.WARNING not in found.values()
    else:
        # The test database is configured for speed and does not survive a crash.
        assert {name for name, severity in found.items() if severity == 2} == {
            "postgresql-fsync",
            "postgresql-full-page-writes",
            "postgresql-synchronous-commit",
        }


@pytest.mark.processes
def test_a_postgresql_as_it_comes_is_safe():
    class Plain(PostgreSQL):
        settings = ()

    with Plain() as server:
        url = server.url.replace("postgres:", "postgresql:", 1)
        with closing(psycopg.connect(url)) as connection:
            asked = {
                name: str(connection.execute(f"SHOW {name}").fetchone()[0])
                for name in ASKED
            }

    found = codes(postgresql_problems(asked))
    assert Severity.ERROR not in found.values()
    # Seamark sets these for its own connections.
    assert "postgresql-statement-timeout" in found


@pytest.mark.processes
def test_a_redis_is_asked(valkey):
    assert codes(look_at_redis(valkey.url)) == {}

    with redis.Redis.from_url(valkey.url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            assert "redis-evicts" in codes(look_at_redis(valkey.url))
        finally:
            client.config_set("maxmemory-policy", "noeviction")


def test_a_redis_that_is_away_is_an_error():
    found = codes(look_at_redis("redis://127.0.0.1:1/0"))

    assert found == {"redis-away": Severity.ERROR}
