"""Data of a process that another process has reported as gone."""

from __future__ import annotations

from datetime import timedelta
from time import time_ns
from uuid import uuid4

import pytest
from django.utils import timezone

from tests.builders import (
    START,
    Process,
    actor_of,
    close_message,
    make_member,
    make_project,
    points_message,
)
from tests.tracker.ingest.test_write import in_threads
from tracker.actions.diagnoses.diagnoses import diagnose_run, diagnose_stage
from tracker.actions.runs.states import SILENCE, has_unjudged_stage, mark_silent
from tracker.actions.runs.trash import move_to_trash
from tracker.actions.work import claim_work, finish_work
from tracker.errors import NotFound, OutOfOrder
from tracker.ingest.gone import note_gone
from tracker.ingest.opening import from_microseconds
from tracker.ingest.write import store_batch
from tracker.models import (
    Alert,
    Diagnosis,
    Role,
    Run,
    Spool,
    Stage,
    State,
    Work,
    WorkKind,
)
from tracker.queries.series.series import read_points

pytestmark = [pytest.mark.django_db, pytest.mark.database]

END = START + 5_000_000
POINT = points_message("a", [1.0])


@pytest.fixture
def process(member):
    """A process with two stored records."""
    process = Process(make_project(member), "baseline")
    process.open()
    process.send([POINT])
    return process


def gone(process, *, after=2, time=END):
    return note_gone(process.actor, process.spool_id, after=after, time=time)


def test_it_crashed_when_it_last_wrote(process):
    assert gone(process).stored == 2

    assert (process.spool.state, process.run.state) == (State.CRASHED, State.CRASHED)
    assert process.spool.ended_at == process.run.ended_at == from_microseconds(END)
    work = Work.objects.filter(run=process.run, due_at__lte=timezone.now())
    assert {each.kind for each in work} == {WorkKind.COMPACT, WorkKind.DIAGNOSE}


def test_it_lived_no_longer_than_it_was_heard_of(process):
    heard_at = timezone.now() - timedelta(hours=1)
    Spool.objects.update(last_seen_at=heard_at)

    # As if the files had been copied since.
    gone(process, time=time_ns() // 1_000)

    assert process.run.ended_at == heard_at


def test_one_whose_place_was_taken_does_not_decide_again(process):
    later = Process(process.run.project, "baseline", time=END + 1)
    later.open()
    later.send([close_message(time=END + 2)])
    Spool.objects.filter(id=process.spool_id).update(
        last_seen_at=from_microseconds(END)
    )

    gone(process, time=time_ns() // 1_000)

    assert process.spool.state == State.CRASHED
    assert process.run.state == State.FINISHED


def test_a_process_that_logs_again_raises_no_alert(process):
    seen = Stage.objects.get()
    gone(process)
    crashed = Stage.objects.get()
    process.send()

    # Diagnosed while it seemed to have crashed, and before.
    for stage in (crashed, seen):
        diagnose_stage(stage)

    assert not Alert.objects.exists()
    assert not Diagnosis.objects.filter(is_final=True).exists()


@pytest.mark.parametrize("is_heard_of", [True, False])
def test_nothing_is_final_before_one_that_lives_would_have_spoken(process, is_heard_of):
    if not is_heard_of:
        Spool.objects.update(last_seen_at=timezone.now() - SILENCE)
    gone(process, time=time_ns() // 1_000)
    diagnose_run(process.run.id)

    assert not Diagnosis.objects.get().is_final
    assert not Alert.objects.exists()
    work = Work.objects.get(kind=WorkKind.DIAGNOSE)
    assert work.due_at <= timezone.now(), "it was asked for at once"
    claim = claim_work(work.id)
    diagnose_run(process.run.id)
    finish_work(claim)
    work.refresh_from_db()
    assert work.due_at > timezone.now()

    Spool.objects.update(said_gone_at=timezone.now() - SILENCE)
    diagnose_run(process.run.id)
    assert Diagnosis.objects.get().is_final
    assert Alert.objects.get().subject == "state crashed"


def test_nor_where_another_rank_has_failed(process):
    failed = Process(process.run.project, "baseline", rank=1)
    failed.open()
    failed.send([close_message("failed", failure="no data", time=END)])
    gone(process)
    assert process.run.state == State.FAILED

    diagnose_run(process.run.id)

    assert not Alert.objects.exists()


def test_a_final_diagnosis_is_reopened_when_the_process_logs_again(process):
    gone(process)
    Spool.objects.update(said_gone_at=timezone.now() - SILENCE)
    diagnose_run(process.run.id)
    assert Diagnosis.objects.get().is_final

    process.send([points_message("a", [2.0], steps=[1.0])])

    assert not Diagnosis.objects.get().is_final
    gone(process, after=3)
    assert has_unjudged_stage(process.run.id)


@pytest.mark.django_db(transaction=True)
def test_said_while_the_process_speaks_it_stops_nothing(process):
    for last in range(2, 8):
        Spool.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
        # The process, one that reports it as gone, and the check for silent processes.
        said = (
            lambda: process.send([POINT]),
            lambda last=last: gone(process, after=last),
            mark_silent,
        )
        in_threads(lambda number, said=said: said[number](), 3)

        # For any order of the three, the stored record shows that it is alive.
        assert process.spool.last_number == last + 1
        assert process.run.state == State.RUNNING

    assert len(read_points(process.run, "a").values) == 7


def test_that_it_fell_silent_is_put_right(process):
    Spool.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
    mark_silent()

    gone(process)

    assert process.run.ended_at == from_microseconds(END)


def test_an_exit_report_with_older_records_changes_nothing(process):
    assert gone(process, after=1).stored == 2

    assert process.run.state == State.RUNNING


@pytest.mark.parametrize(
    "state", [State.FINISHED, State.FAILED, State.PREEMPTED], ids=str
)
def test_how_it_said_that_it_ended_stays(process, state):
    process.send([close_message(state, failure="no data", time=START)])

    gone(process, after=3)

    assert process.spool.state == process.run.state == state
    assert process.spool.ended_at == from_microseconds(START)


@pytest.mark.parametrize("payloads", [[], [[points_message("a", [2.0])]]], ids=len)
def test_it_runs_again_once_it_says_anything(process, payloads):
    gone(process)

    process.send(*payloads)

    assert (process.spool.state, process.spool.ended_at) == (State.RUNNING, None)
    assert (process.run.state, process.run.ended_at) == (State.RUNNING, None)
    process.send([close_message(time=START)])
    assert process.run.state == State.FINISHED


def test_resent_records_do_not_reopen_the_run(process):
    gone(process)
    process.next_number -= 1

    process.send([POINT])

    assert process.run.state == State.CRASHED


def test_said_again_it_asks_for_no_more_work(process):
    gone(process)
    Work.objects.all().delete()

    assert gone(process).stored == 2

    assert not Work.objects.exists()
    gone(process, time=END + 1)
    assert process.run.ended_at == from_microseconds(END + 1)


def test_frames_that_are_missing_are_asked_for(process):
    with pytest.raises(OutOfOrder) as refusal:
        gone(process, after=7)

    assert refusal.value.expected == 3
    assert process.run.state == State.RUNNING


def test_an_unknown_spool_is_not_found(process):
    with pytest.raises(NotFound):
        note_gone(process.actor, uuid4(), after=2, time=END)


def test_a_run_in_the_trash_stays_as_it_is(process):
    move_to_trash(process.run)

    with pytest.raises(NotFound):
        gone(process)

    assert Run.objects.get().state == State.RUNNING


def test_a_stranger_cannot_report_an_exit(process, stranger):
    with pytest.raises(NotFound):
        note_gone(actor_of(stranger), process.spool_id, after=2, time=END)

    assert process.run.state == State.RUNNING


def test_a_viewer_cannot_report_an_exit(process, member):
    viewer = make_member("vera", Role.VIEWER, workspace=member.workspace)
    with pytest.raises(NotFound):
        note_gone(actor_of(viewer), process.spool_id, after=2, time=END)

    assert process.run.state == State.RUNNING


def test_the_next_batch_of_a_process_that_was_thought_gone_is_stored_once(process):
    # Its position is cached, so plain batches do not need its row.
    process.send([points_message("a", [2.0], steps=[1.0])])
    gone(process, after=3)

    process.send([points_message("a", [3.0], steps=[2.0])])

    assert process.run.state == State.RUNNING
    assert store_batch(process.actor, process.spool_id, b"").stored == 4
