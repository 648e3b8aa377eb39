from __future__ import annotations

import json
from datetime import timedelta

import pytest
from celery.signals import worker_ready
from django.db.models import F
from django.utils import timezone

from tests.builders import (
    START,
    Process,
    close_message,
    make_project,
    make_run,
    points_message,
    write_series,
)
from tests.tracker.series.examples import noise
from tracker import tasks
from tracker.actions.compactions import request_compactions
from tracker.actions.work import claim_work, request_work
from tracker.celery import app
from tracker.models import Attribute, Diagnosis, JournalEntry, Run, Spool, State, Work
from tracker.models import WorkKind as Kind

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(member):
    run = make_run(make_project(member))
    Work.objects.all().delete()
    return run


@pytest.fixture
def in_place():
    """Run tasks in this process instead of a worker."""
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


def work_of(run, kind):
    return Work.objects.filter(run=run, kind=kind).first()


def make_due():
    """Make work and journal entries due, as if the time had passed."""
    JournalEntry.objects.update(received_at=F("received_at") - timedelta(minutes=1))
    request_compactions()
    Work.objects.exclude(due_at=None).update(due_at=timezone.now())


def seconds_until(moment):
    return (moment - timezone.now()).total_seconds()


def test_the_timetable_names_tasks_that_exist():
    named = {entry["task"] for entry in app.conf.beat_schedule.values()}

    assert named <= app.tasks.keys()
    assert len(named) == len(app.conf.beat_schedule)


def test_compaction_empties_the_journal_and_its_own_request(run):
    write_series(run, "loss", [1, 2, 3])
    make_due()

    tasks.do_work(work_of(run, Kind.COMPACT).id)

    assert Attribute.objects.get(path="loss").count == 3
    assert not JournalEntry.objects.exists()
    assert work_of(run, Kind.COMPACT).due_at is None


def test_compaction_of_nothing_new_asks_for_nothing(run):
    request_work(run.id, Kind.COMPACT)

    tasks.do_work(work_of(run, Kind.COMPACT).id)

    assert work_of(run, Kind.DIAGNOSE) is None


def test_a_run_that_ended_is_diagnosed_at_once_and_for_the_last_time(member, in_place):
    process = Process(make_project(member), "baseline")
    process.open()
    process.send([points_message("loss", noise(50))])
    process.send([close_message(time=START)])

    for _ in range(2):
        tasks.send_due_work()

    assert Diagnosis.objects.get().is_final
    assert Attribute.objects.get(path="loss").count == 50


def test_work_is_done_once_however_often_the_message_comes(run, in_place):
    write_series(run, "loss", [1, 2, 3])
    make_due()
    work_id = work_of(run, Kind.COMPACT).id

    for _ in range(2):
        tasks.send_due_work()
        tasks.do_work(work_id)

    assert Attribute.objects.get(path="loss").count == 3


def test_work_of_a_killed_worker_is_done_by_another(run, in_place):
    write_series(run, "loss", [1, 2, 3])
    make_due()
    assert claim_work(work_of(run, Kind.COMPACT).id)
    tasks.send_due_work()
    assert JournalEntry.objects.exists()

    Work.objects.update(leased_until=F("leased_until") - timedelta(seconds=61))
    tasks.send_due_work()

    assert not JournalEntry.objects.exists()


def test_one_call_does_all_that_is_due(member, monkeypatch):
    monkeypatch.setattr(tasks, "AWAKE_SECONDS", 60.0)
    project = make_project(member)
    runs = [make_run(project, f"r{number}") for number in range(tasks.LOOKED_AT + 3)]
    for run in runs:
        request_work(run.id, Kind.COMPACT)

    tasks.do_due_work()

    assert not Work.objects.exclude(due_at=None).exists()


def test_a_call_ends_after_a_while_even_if_there_is_always_more(run, monkeypatch):
    monkeypatch.setattr(tasks, "AWAKE_SECONDS", 0.05)
    request_work(run.id, Kind.COMPACT)
    done = []

    def ask_again(run_id):
        done.append(run_id)
        request_work(run_id, Kind.COMPACT)

    monkeypatch.setattr(tasks, "compact", ask_again)

    tasks.do_due_work()

    assert len(done) > 1
    assert Work.objects.exclude(due_at=None).exists()


def test_work_that_fails_is_noted_and_due_later(run, monkeypatch, caplog):
    def fail(_run_id):
        raise RuntimeError("no such luck")

    monkeypatch.setattr(tasks, "compact_run", fail)
    request_work(run.id, Kind.COMPACT)

    tasks.do_work(work_of(run, Kind.COMPACT).id)

    work = work_of(run, Kind.COMPACT)
    assert work.last_error == "RuntimeError: no such luck"
    assert seconds_until(work.due_at) == pytest.approx(2, abs=1)
    assert "no such luck" in caplog.text


def test_compaction_that_is_far_behind_goes_on_at_once(run, monkeypatch):
    monkeypatch.setattr("tracker.series.compaction.PASSES", 1)
    monkeypatch.setattr("tracker.series.compaction.PASS_ENTRIES", 1)
    write_series(run, "loss", [1])
    write_series(run, "loss", [2], steps=[1])
    make_due()
    work_id = work_of(run, Kind.COMPACT).id

    tasks.do_work(work_id)
    assert JournalEntry.objects.count() == 1
    tasks.do_work(work_id)

    assert Attribute.objects.get(path="loss").count == 2


def test_a_message_is_json_and_soon_expires(run):
    request_work(run.id, Kind.COMPACT)

    with app.connection_for_read() as connection:
        queue = connection.SimpleQueue(app.conf.task_default_queue)
        queue.clear()
        tasks.send_due_work()
        message = queue.get(timeout=10)
        message.ack()
        queue.close()

    assert message.content_type == "application/json"
    assert json.loads(message.body)[0] == []
    assert message.headers["task"] == "tracker.tasks.do_due_work"
    assert message.headers["expires"]


def test_silent_processes_are_marked(run):
    Spool.objects.update(last_seen_at=timezone.now() - timedelta(seconds=91))

    for _ in range(2):
        tasks.mark_silent_processes()

    assert Run.objects.get().state == State.CRASHED


def test_live_runs_are_diagnosed_without_a_request(run):
    for _ in range(2):
        tasks.request_live_diagnoses()

    assert seconds_until(work_of(run, Kind.DIAGNOSE).due_at) == pytest.approx(0, abs=1)


def test_processes_have_time_to_speak_after_the_server_was_away(run, monkeypatch):
    monkeypatch.setattr(tasks, "_watching_since", None)
    Spool.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))

    worker_ready.send(sender=None)
    tasks.mark_silent_processes()
    assert Run.objects.get().state == State.RUNNING

    began = timezone.now() - timedelta(seconds=91)
    monkeypatch.setattr(tasks, "_watching_since", began)
    tasks.mark_silent_processes()
    assert Run.objects.get().state == State.CRASHED
