"""A database that the first version filled is one of this version after `migrate`."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from tests.builders import actor_of, frames, points_message
from tests.migrations.filled import READ_BACK, FilledRun, Filler
from tests.migrations.first_version import (
    encode_chunk,
    encode_entry,
    encode_overview,
)
from tests.tracker.series.examples import points, same
from tests.tracker.series.test_codec import GOLDEN, golden_points
from tracker.ingest import commits
from tracker.ingest.write import store_batch
from tracker.integrity.run import RunWalk, Seen, run_ids
from tracker.integrity.tables import ladder_problems, purge_problems, work_problems
from tracker.models import Attribute, JournalEntry, Member, Run, SeriesChunk
from tracker.queries.run.attributes import list_attributes
from tracker.queries.health import has_current_schema
from tracker.queries.series.series import read_line, read_many_points, read_points
from tracker.series.codec import decode_overview
from tracker.series.compaction import compact_run
from tracker.series.downsample import summarise

FIRST = [("tracker", "0001_initial")]
WITH_DELETIONS = [("tracker", "0024_deletions")]
WITHOUT_DELETIONS = [("tracker", "0023_report_comments")]


def name_of(kind: str, folder: Path) -> str:
    if connection.vendor == "sqlite":
        return str(folder / f"{kind}.sqlite3")
    return f"{connection.settings_dict['NAME']}_{kind}"


@contextmanager
def created(name: str, *, template: str = "") -> Iterator[None]:
    """Create a database, empty or a copy of another; drop it at the end."""
    if connection.vendor == "sqlite":
        if template:
            shutil.copy(template, name)
        yield
        return
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE {template or "template1"}')
    yield
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{name}"')


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Have the default connection lead to another database."""
    usual = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


@pytest.fixture
def empty_database(django_db_setup, django_db_blocker, tmp_path):
    name = name_of("empty", tmp_path)
    with django_db_blocker.unblock(), created(name), connected_to(name):
        yield


@pytest.fixture(scope="module")
def upgraded(django_db_setup, django_db_blocker, tmp_path_factory):
    """Fill the tables of the first migration, then make those of the newest; once."""
    name = name_of("upgraded", tmp_path_factory.mktemp("upgraded"))
    with django_db_blocker.unblock(), created(name):
        with connected_to(name):
            executor = MigrationExecutor(connection)
            executor.migrate(FIRST)
            runs = Filler(executor.loader.project_state(FIRST).apps).fill()
            upgrade()
        yield name, runs


@pytest.fixture
def filled(upgraded, django_db_blocker, tmp_path, monkeypatch):
    """Connect to a copy of the upgraded database; return its runs."""
    template, runs = upgraded
    name = name_of("copy", tmp_path)
    group = commits.Group()
    monkeypatch.setattr(commits, "_group", group)
    with (
        django_db_blocker.unblock(),
        created(name, template=template),
        connected_to(name),
    ):
        yield runs
        group._connection.close()


def upgrade() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def expect_every_point(runs: list[FilledRun]) -> None:
    for filled in runs:
        found = read_many_points(Run.objects.get(id=filled.id), filled.points)
        for path, expected in filled.points.items():
            assert same(found[path], expected), path


def problems() -> list[object]:
    found: list[object] = [
        problem
        for run_id in run_ids()
        for problem in RunWalk(Run.objects.get(id=run_id), Seen()).problems()
    ]
    now = timezone.now()
    return [*found, *work_problems(now), *purge_problems(now), *ladder_problems()]


@pytest.mark.database
class TestUpgrade:
    def test_every_point_is_there_before_and_after_compaction(self, filled):
        assert has_current_schema()
        expect_every_point(filled)
        assert problems() == []

        for run in filled:
            in_journal = JournalEntry.objects.filter(run_id=run.id)
            waiting = sum(in_journal.values_list("point_count", flat=True))
            assert compact_run(run.id) == waiting > 0

        assert not JournalEntry.objects.exists()
        expect_every_point(filled)
        assert problems() == []

    def test_rows_of_chunks_that_were_there_have_no_checksum(self, filled):
        before = list(SeriesChunk.objects.values_list("checksum", flat=True))
        kept = set(SeriesChunk.objects.values_list("id", flat=True))
        for run in filled:
            compact_run(run.id)
        written = SeriesChunk.objects.exclude(id__in=kept)

        assert before
        assert set(before) == {None}
        assert written.exists()
        assert not written.filter(checksum=None).exists()

    def test_charts_draw_chunks_of_both_versions_as_one_line(self, filled):
        run = Run.objects.get(id=filled[0].id)
        compact_run(run.id)
        versions = SeriesChunk.objects.filter(run=run, series__path="train/loss")
        assert {chunk.ticks_id is None for chunk in versions} == {True, False}

        line = read_line(run, "train/loss", buckets=50)

        expected = filled[0].points["train/loss"].values
        assert line.count == len(expected)
        assert np.fmax.reduce(line.maximum) == np.fmax.reduce(expected)
        assert np.fmin.reduce(line.minimum) == np.fmin.reduce(expected)

    def test_every_attribute_keeps_its_value_and_belongs_to_its_project(self, filled):
        values = {
            row.path: row.value
            for row in list_attributes(Run.objects.get(id=filled[0].id))
        }

        assert READ_BACK.items() <= values.items()
        assert math.isnan(values["params/nan"])
        for run in Run.objects.all():
            projects = Attribute.objects.filter(run=run).values_list(
                "project", flat=True
            )
            assert set(projects) == {run.project_id}

    def test_a_process_that_was_logging_goes_on(self, filled):
        running = filled[1]
        actor = actor_of(Member.objects.get())
        first = running.last_number
        again = [[points_message("train/loss", [0.0], steps=[0.0])]]
        new = [
            [points_message("train/loss", [1.5], steps=[9_000])],
            [points_message("new", [2.5], steps=[9_000])],
        ]

        body = frames([*again, *new], first=first)

        assert store_batch(actor, running.spool_id, body).stored == first + 2
        compact_run(running.id)
        run = Run.objects.get(id=running.id)
        assert len(read_points(run, "train/loss")) == (
            len(running.points["train/loss"]) + 1
        )
        assert read_points(run, "new").values.tolist() == [2.5]
        assert problems() == []


def test_the_first_version_wrote_the_golden_bytes_so():
    some = golden_points()

    assert encode_chunk(some) == (GOLDEN / "chunk-v1.bin").read_bytes()
    entry = encode_entry({7: some, 2**40: points([1, 2, 3])})
    assert entry == (GOLDEN / "journal-v1.bin").read_bytes()
    golden = decode_overview((GOLDEN / "overview-v1.bin").read_bytes(), None)
    ours = decode_overview(encode_overview(summarise(some, size=3)), None)
    for name in golden.__slots__:
        assert getattr(ours, name).tobytes() == getattr(golden, name).tobytes()


@pytest.mark.database
def test_checksums_of_rows_can_be_given_up_again(filled):
    compact_run(filled[0].id)

    MigrationExecutor(connection).migrate(WITH_DELETIONS)
    upgrade()

    assert has_current_schema()
    assert set(SeriesChunk.objects.values_list("checksum", flat=True)) == {None}
    assert read_points(Run.objects.get(id=filled[0].id), "train/loss")


@pytest.mark.database
def test_a_version_without_a_trash_for_it_sees_only_what_was_kept(empty_database):
    executor = MigrationExecutor(connection)
    executor.migrate(WITH_DELETIONS)
    apps = executor.loader.project_state(WITH_DELETIONS).apps
    filler, now = Filler(apps), timezone.now()
    project = filler.projects[0]
    for deleted_at in (now, None):
        of = {"project": project, "name": "one", "deleted_at": deleted_at}
        for model in ("Ladder", "Dashboard", "SavedView", "Report"):
            thing = filler.add(model, **of)
        for text in ("answered", "alone"):
            about = {"report": thing, "version": 1, "written_at": now}
            first = filler.add(
                "ReportComment", text=text, deleted_at=deleted_at or now, **about
            )
            if text == "answered":
                filler.add("ReportComment", text="answer", thread=first, **about)

    executor = MigrationExecutor(connection)
    executor.migrate(WITHOUT_DELETIONS)
    apps = executor.loader.project_state(WITHOUT_DELETIONS).apps

    def kept(model, column):
        rows = apps.get_model("tracker", model).objects.order_by("id")
        return list(rows.values_list(column, flat=True))

    for model in ("Ladder", "Dashboard", "SavedView", "Report"):
        assert kept(model, "name") == ["one"], model
    assert kept("ReportComment", "text") == ["", "answer"]
    upgrade()
    assert has_current_schema()
