"""Deleted space is returned to the disk, while other connections write."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from django.conf import settings as django_settings
from django.db import connection, transaction

from tests.builders import make_project, make_run, write_values
from tracker.actions.runs.purging import purge_run
from tracker.actions.runs.trash import delete_for_good, move_to_trash
from tracker.embedded.sqlite import space as module
from tracker.embedded.sqlite.space import give_space_back, rewrite, space
from tracker.models import Attribute, State

sqlite_only = pytest.mark.skipif(
    not django_settings.IS_SQLITE, reason="PostgreSQL keeps and reuses the space"
)


@pytest.fixture
def large_run(transactional_db):
    from tests.builders import make_member

    project = make_project(make_member("ada"))
    run = make_run(project, "large", State.FINISHED)
    for part in range(10):
        write_values(run, {f"{part}/{n}": os.urandom(20_000).hex() for n in range(10)})
    make_run(project, "kept", State.FINISHED)
    return run


def purge(run):
    move_to_trash(run)
    delete_for_good(run)
    assert purge_run(run.id, seconds=60).is_done


@sqlite_only
def test_space_comes_back_in_steps(large_run, monkeypatch):
    monkeypatch.setattr(module, "SHORTEST_PAUSE_SECONDS", 0)
    monkeypatch.setattr(module, "MAX_PAGES", 100)
    full = space()
    assert full.is_incremental
    purge(large_run)
    emptied = space()
    assert emptied.total == full.total
    assert emptied.free > 3_000_000

    given = give_space_back(60)

    # Plus the pages that track the free pages.
    assert given.bytes >= emptied.free
    assert space().free == 0
    with closing(sqlite3.connect(connection.settings_dict["NAME"])) as other:
        assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@sqlite_only
def test_it_stops_when_its_time_is_over(large_run):
    purge(large_run)
    free = space().free

    assert give_space_back(-1).bytes == 0
    assert space().free == free


@sqlite_only
def test_nothing_free_costs_nothing(large_run):
    purge(large_run)
    give_space_back(60)

    assert give_space_back(60).bytes == 0


@pytest.mark.django_db
@sqlite_only
def test_is_refused_within_a_transaction(member):
    Attribute.objects.all().delete()
    with transaction.atomic(), pytest.raises(RuntimeError, match="outside"):
        module._step("PRAGMA incremental_vacuum(1)")


@pytest.mark.django_db
@pytest.mark.database
def test_on_another_database_there_is_nothing_to_do():
    if not django_settings.IS_SQLITE:
        assert space() is None
        assert give_space_back(1).bytes == 0


@sqlite_only
def test_a_rewritten_file_has_no_free_pages(large_run):
    purge(large_run)
    assert space().free > 3_000_000

    rewrite()

    after = space()
    assert (after.free, after.is_incremental) == (0, True)


@pytest.mark.processes
def test_an_older_file_gives_space_back_after_the_command(tmp_path):
    path = tmp_path / "seamark.sqlite3"
    with closing(sqlite3.connect(path)) as old:
        old.execute("PRAGMA journal_mode = WAL")
        old.execute("CREATE TABLE t (data)")
        old.executemany("INSERT INTO t VALUES (?)", [(b"x" * 100_000,)] * 50)
        old.execute("DELETE FROM t")
        old.commit()
        assert old.execute("PRAGMA auto_vacuum").fetchone() == (0,)
    environment = {**os.environ, "SEAMARK_DATA": str(tmp_path)}

    result = subprocess.run(
        [sys.executable, "manage.py", "shrink"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert result.stdout.startswith("4 MiB before, 0 MiB now")
    with closing(sqlite3.connect(path)) as new:
        assert new.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    assert path.stat().st_size < 20_000
