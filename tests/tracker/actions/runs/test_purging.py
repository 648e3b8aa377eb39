"""A run is deleted in small transactions that may be interrupted, and nothing else is."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet

from tests.builders import (
    START,
    Process,
    browser_of,
    close_message,
    make_run,
    points_message,
    write,
    write_series,
    write_tags,
    write_values,
)
from tests.ladder_runs import DEMO, make_measured_run
from tracker import tasks
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.runs import purging
from tracker.actions.runs.annotations import annotate, delete_annotation
from tracker.actions.runs.purging import TABLES, purge_run
from tracker.actions.runs.trash import delete_for_good, move_to_trash
from tracker.errors import OutOfOrder
from tracker.models import (
    Attribute,
    Finding,
    JournalEntry,
    Run,
    Rung,
    SeriesChunk,
    SeriesTicks,
    Spool,
    State,
    Work,
    WorkKind,
)
from tracker.queries.ladders.ladders import ladder_summaries, read_ladder
from tracker.queries.series.series import read_points
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]

LONG = 60.0


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(purging, "SHORTEST_PAUSE_SECONDS", 0)


@pytest.fixture
def ladder(project):
    runs = [make_measured_run(project, job) for job in DEMO[:3]]
    return create_ladder(project, "faster", [RungRequest(str(run.id)) for run in runs])


def fill(run):
    """Give a run rows of every kind, in the journal and in chunks."""
    write_series(run, "loss", np.arange(300.0))
    write_series(run, "accuracy", np.arange(300.0))
    compact_run(run.id)
    write_series(run, "loss", [1.0, float("nan")], steps=[300, 301])
    write_values(run, {"lr": 0.1, "names": ["a", "b"], "note": "x" * 100})
    write_tags(run, "good")
    owner = run.project.workspace.members.first()
    annotate(run, "loss", 0, "here", browser_of(owner))
    deleted = annotate(run, "loss", 0, "not here", browser_of(owner))
    delete_annotation(deleted, user_id=owner.user_id)


def mark(run):
    move_to_trash(run)
    delete_for_good(run)


def models_of_runs():
    """Yield every other model that refers to runs, so that none is omitted."""
    # Children of a deleted run stay.
    models = set(apps.get_app_config("tracker").get_models()) - {Run}
    for model in models:
        for field in model._meta.get_fields():
            if field.concrete and field.related_model is Run:
                yield model


def rows_of(run):
    found = {
        model: QuerySet(model).filter(run=run).count() for model in models_of_runs()
    }
    return {model: count for model, count in found.items() if count}


def purge_all(run, *, calls=100):
    for _ in range(calls):
        if purge_run(run.id, seconds=LONG).is_done:
            return
    pytest.fail("the run is still there")


def test_knows_every_table_that_refers_to_runs():
    known = {table.name for table in TABLES} | {Work._meta.db_table}

    assert known == {model._meta.db_table for model in models_of_runs()}


def test_deletes_all_of_a_run_and_nothing_of_another(project, ladder):
    kept = make_run(project, "kept", State.FINISHED)
    fill(kept)
    before = rows_of(kept)
    run = ladder.rungs.order_by("position")[1].run
    fill(run)
    diagnose_run(run.id)
    assert Finding.objects.filter(run=run).exists()
    mark(run)

    purged = purge_run(run.id, seconds=LONG)

    assert purged.is_done
    assert purged.rows > 10
    assert rows_of(run) == {}
    assert not Run.objects.filter(id=run.id).exists()
    assert rows_of(kept) == before
    assert len(read_points(kept, "loss")) == 302


def test_doing_it_twice_is_doing_it_once(project):
    run = make_run(project, "gone", State.FINISHED)
    fill(run)
    mark(run)

    assert purge_run(run.id, seconds=LONG).is_done
    again = purge_run(run.id, seconds=LONG)

    assert (again.is_done, again.rows) == (True, 0)


def test_a_run_that_is_only_in_the_trash_is_not_purged(project):
    run = make_run(project, "kept", State.FINISHED)
    fill(run)
    before = rows_of(run)
    move_to_trash(run)

    purge_run(run.id, seconds=LONG)

    assert rows_of(run) == before


def test_goes_on_where_the_time_ended(project):
    run = make_run(project, "gone", State.FINISHED)
    fill(run)
    mark(run)

    assert not purge_run(run.id, seconds=-1).is_done
    assert JournalEntry.objects.filter(run=run).exists()

    purge_all(run)
    assert rows_of(run) == {}


def test_pieces_are_small_in_rows_and_in_bytes(project, monkeypatch):
    monkeypatch.setattr(purging, "PIECE_ROWS", 7)
    run = make_run(project, "gone", State.FINISHED)
    write_values(run, {f"v/{number}": float(number) for number in range(30)})
    write_values(run, {"text": "x" * 5_000, "other": "y" * 5_000})
    monkeypatch.setattr(purging, "PIECE_BYTES", 6_000)
    mark(run)

    with statements("DELETE FROM tracker_attribute") as sent:
        purge_run(run.id, seconds=LONG)

    # 32 rows in batches of seven need five statements; two long texts need separate ones.
    assert 5 <= len(sent) <= 7
    assert all(sql.count("%s") <= 8 for sql in sent)
    assert rows_of(run) == {}


class Killed(BaseException):
    """The worker is killed."""


@contextmanager
def killed_at(number, *, is_done):
    """Raise at a statement, before or after the database executes it."""
    seen = 0

    def count(execute, sql, params, many, context):
        nonlocal seen
        # The database discards an unfinished transaction.
        if sql.startswith(("ROLLBACK", "RELEASE")):
            return execute(sql, params, many, context)
        seen += 1
        if seen == number and not is_done:
            raise Killed
        result = execute(sql, params, many, context)
        if seen == number:
            raise Killed
        return result

    with connection.execute_wrapper(count):
        yield


@contextmanager
def statements(beginning):
    sent = []

    def note(execute, sql, params, many, context):
        if sql.startswith(beginning):
            sent.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield sent


def statement_count(run):
    with transaction.atomic():
        with statements("") as sent:
            purge_all(run)
        transaction.set_rollback(True)
    return sum(not sql.startswith("RELEASE") for sql in sent)


def test_may_be_killed_at_any_statement(project):
    kept = make_run(project, "kept", State.FINISHED)
    fill(kept)
    run = make_run(project, "gone", State.FINISHED)
    fill(run)
    mark(run)
    most = statement_count(run)
    assert most > 20

    for number in range(1, most + 1):
        for is_done in (False, True):
            with transaction.atomic():
                with pytest.raises(Killed), killed_at(number, is_done=is_done):
                    purge_all(run)
                # Remaining data is hidden, and the purge is requested again.
                left = Run.objects.filter(id=run.id)
                assert not left.filter(purging_at=None).exists()
                if left.exists():
                    assert Work.objects.filter(run=run, kind=WorkKind.PURGE).exists()
                purge_all(run)
                assert rows_of(run) == {}
                assert not left.exists()
                assert len(read_points(kept, "loss")) == 302
                transaction.set_rollback(True)


def test_the_worker_deletes_and_is_asked_again_while_something_is_left(
    project, monkeypatch
):
    run = make_run(project, "gone", State.FINISHED)
    fill(run)
    mark(run)
    work_id = Work.objects.get(run=run, kind=WorkKind.PURGE).id
    given = []
    monkeypatch.setattr(tasks, "give_space_back", given.append)
    monkeypatch.setattr(tasks, "PURGE_SECONDS", -1)

    tasks.do_work(work_id)

    assert Work.objects.get(id=work_id).due_at is not None
    assert given == []
    monkeypatch.setattr(tasks, "PURGE_SECONDS", LONG)
    for _ in range(2):
        tasks.do_work(work_id)
    assert rows_of(run) == {}
    assert len(given) == 1


def test_points_that_came_at_the_last_moment_are_deleted_too(project):
    """A batch that was in progress when the run was marked stores its points afterwards."""
    process = Process(project, "late")
    process.open()
    process.send([points_message("loss", [1.0])])
    run = process.run
    entry = JournalEntry.objects.get(run=run)
    mark(run)

    def be_late(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if sql.startswith("DELETE FROM tracker_attribute"):
            entry.save(force_insert=True)
        return result

    def purge():
        with transaction.atomic():
            purge_run(run.id, seconds=LONG)
            # As at the end of a separate transaction.
            connection.check_constraints()

    with connection.execute_wrapper(be_late), pytest.raises(IntegrityError):
        purge()
    assert Run.objects.filter(id=run.id).exists()

    purge()
    assert not JournalEntry.objects.exists()
    assert not Run.objects.filter(id=run.id).exists()


def test_a_ladder_opens_without_the_rung_that_was_deleted(project, ladder):
    run = ladder.rungs.order_by("position")[1].run
    mark(run)
    purge_all(run)

    view = read_ladder(ladder)

    assert [rung.position for rung in view.rungs] == [0, 1]
    assert [rung.run_name for rung in view.rungs] == [DEMO[0].name, DEMO[2].name]
    # The remaining runs are compared.
    assert view.rungs[1].against_previous is not None
    (summary,) = ladder_summaries(project.id)
    assert len(summary.rungs) == 2


def test_a_ladder_opens_without_any_rung(project, ladder):
    for rung in list(ladder.rungs.select_related("run")):
        mark(rung.run)
        purge_all(rung.run)

    assert read_ladder(ladder).rungs == ()
    assert not Rung.objects.exists()


def test_a_process_that_logs_after_the_purge_creates_the_run_again(project):
    process = Process(project, "again")
    process.open()
    process.send([points_message("loss", [1.0, 2.0])])
    run = process.run
    mark(run)
    purge_all(run)

    # Its queue is unknown, so the agent is told to start from the first record.
    with pytest.raises(OutOfOrder) as refusal:
        process.send([points_message("loss", [3.0], steps=[2])])
    assert refusal.value.expected == 1

    process.next_number = 1
    process.send([process.opening], [], [points_message("loss", [3.0], steps=[2])])
    assert process.run.id != run.id
    assert read_points(process.run, "loss").values.tolist() == [3.0]


def test_compaction_that_comes_between_leaves_nothing(project):
    run = make_run(project, "gone", State.FINISHED)
    write_series(run, "loss", np.arange(100.0))
    mark(run)
    compact_run(run.id)
    assert SeriesChunk.objects.filter(run=run).exists()

    purge_all(run)

    for model in (Attribute, JournalEntry, SeriesChunk, SeriesTicks, Spool):
        assert not model.objects.filter(run_id=run.id).exists()


def test_a_run_that_ends_in_the_trash_is_deleted_all_the_same(project):
    process = Process(project, "ended")
    process.open()
    process.send([close_message(time=START)])
    write(process.run, [points_message("loss", [1.0])])
    mark(process.run)

    purge_all(process.run)
