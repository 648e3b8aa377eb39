"""Deletion while other connections write, read and delete."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from threading import Event

import numpy as np
import pytest
from django.db import connection

from tests.builders import (
    Process,
    make_member,
    make_project,
    make_run,
    points_message,
    write_series,
)
from tracker.actions.compactions import request_compactions
from tracker.actions.runs import purging
from tracker.actions.runs.purging import purge_run
from tracker.actions.runs.trash import delete_for_good, move_to_trash, request_purges
from tracker.actions.work import claim_work, request_work
from tracker.embedded.sqlite.space import give_space_back
from tracker.errors import NotFound, OutOfOrder
from tracker.models import JournalEntry, Run, SeriesChunk, State, Work, WorkKind
from tracker.queries.series.series import read_points
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
def project(transactional_db):
    return make_project(make_member("ada"))


@pytest.fixture
def run(project, monkeypatch):
    monkeypatch.setattr(purging, "PIECE_ROWS", 5)
    monkeypatch.setattr(purging, "SHORTEST_PAUSE_SECONDS", 0.001)
    run = make_run(project, "gone", State.FINISHED)
    for part in range(20):
        write_series(run, f"series/{part}", np.arange(200.0))
    compact_run(run.id)
    for part in range(20):
        write_series(run, f"series/{part}", [1.0], steps=[200])
    move_to_trash(run)
    delete_for_good(run)
    return run


@contextmanager
def beside(*works):
    """Run functions in threads until the block ends, and raise their errors."""
    is_over = threading.Event()
    errors = []

    def go_on(work):
        try:
            while not is_over.is_set():
                work()
        except Exception as error:  # noqa: BLE001 - raised in the main thread
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=go_on, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert errors == []


def test_others_write_and_read_while_a_run_is_deleted(project, run):
    process = Process(project, "live")
    process.open()
    live = process.run
    sent = []

    def log():
        step = len(sent)
        process.send([points_message("loss", [float(step)], steps=[step])])
        sent.append(float(step))

    def read():
        values = read_points(live, "loss").values.tolist()
        assert values == [float(step) for step in range(len(values))]

    with beside(log, read, lambda: compact_run(live.id)):
        while not purge_run(run.id, seconds=60).is_done:
            pass
        give_space_back(5)

    assert not Run.objects.filter(id=run.id).exists()
    assert read_points(live, "loss").values.tolist() == sent


def test_two_workers_delete_one_run(run):
    def delete():
        purge_run(run.id, seconds=60)

    with beside(delete, delete):
        while Run.objects.filter(id=run.id).exists():
            pass

    assert not SeriesChunk.objects.filter(run_id=run.id).exists()
    assert not Work.objects.filter(run_id=run.id).exists()


def test_a_process_that_logs_during_the_purge_is_refused_and_then_starts_over(
    project, run
):
    process = Process(project, "late")
    process.open()
    late = process.run
    write_series(late, "loss", np.arange(50.0))
    move_to_trash(late)
    delete_for_good(late)

    def log():
        try:
            process.send([points_message("loss", [1.0])])
        except (NotFound, OutOfOrder):
            return
        pytest.fail("it was stored")

    with beside(log, lambda: compact_run(late.id)):
        while not purge_run(late.id, seconds=60).is_done:
            pass

    assert not JournalEntry.objects.filter(run_id=late.id).exists()
    assert not SeriesChunk.objects.filter(run_id=late.id).exists()


def test_the_timetable_asks_for_work_all_the_while(run):
    """A worker that found a run's journal may request its compaction after the deletion."""
    begun = Event()

    def ask():
        for kind in (WorkKind.COMPACT, WorkKind.DIAGNOSE):
            request_work(run.id, kind)
        Work.objects.filter(run=run).exclude(kind=WorkKind.PURGE).delete()
        begun.set()

    with beside(ask, ask, request_compactions, request_purges):
        assert begun.wait(30)
        while not purge_run(run.id, seconds=60).is_done:
            pass

    assert not Run.objects.filter(id=run.id).exists()
    assert not Work.objects.filter(run_id=run.id).exists()


def test_the_work_goes_with_the_run(run):
    work = Work.objects.get(run=run, kind=WorkKind.PURGE)
    claim = claim_work(work.id)
    assert claim is not None

    while not purge_run(run.id, seconds=60).is_done:
        pass

    assert claim_work(work.id) is None
