from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models.signals import post_init
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import START, Process, close_message, make_project, make_run
from tracker.actions.runs.states import (
    BROKEN,
    PRECEDENCE,
    has_unjudged_stage,
    mark_silent,
    settle_states,
)
from tracker.models import Diagnosis, Run, Spool, Stage, State, Work, WorkKind

pytestmark = [pytest.mark.django_db, pytest.mark.database]

MINUTE = timedelta(minutes=1)
STARTED = datetime.fromtimestamp(START / 1_000_000, UTC)


@pytest.fixture
def run(member):
    return make_run(make_project(member))


def add_process(run, stage, state, **fields):
    stage, _ = Stage.objects.get_or_create(run=run, name=stage)
    process = process_of(stage, state, **fields)
    process.save()
    return process


def process_of(
    stage, state, *, start=STARTED, end=None, failure="", rank=0, is_helper=False
):
    return Spool(
        id=uuid4(),
        run=stage.run,
        stage=stage,
        rank=rank,
        host="node",
        process_id=1,
        agent_version="0.1",
        state=state,
        started_at=start,
        ended_at=end,
        last_seen_at=timezone.now(),
        failure=failure,
        is_helper=is_helper,
    )


def settled(run):
    settle_states(run.id)
    run.refresh_from_db()
    return run


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (["finished", "finished"], "finished"),
        (["finished", "crashed"], "crashed"),
        (["crashed", "failed", "finished"], "failed"),
        (["failed", "crashed", "running"], "running"),
        (["crashed", "preempted", "finished"], "preempted"),
        (["failed", "preempted"], "failed"),
    ],
)
def test_the_state_follows_from_the_processes(run, states, expected):
    Spool.objects.all().delete()
    Stage.objects.all().delete()
    for state in states:
        add_process(run, "train", state, end=STARTED)

    assert settled(run).state == expected
    assert Stage.objects.get().state == expected


def test_a_run_is_running_while_one_of_its_stages_is(run):
    add_process(run, "preprocess", State.FAILED, end=STARTED + MINUTE)

    assert settled(run).state == State.RUNNING
    assert run.ended_at is None
    assert run.stages.get(name="preprocess").state == State.FAILED


def test_times_span_all_processes(run):
    Spool.objects.update(state=State.FINISHED, ended_at=STARTED + 2 * MINUTE)
    add_process(
        run, "infer", State.FINISHED, start=STARTED - MINUTE, end=STARTED + MINUTE
    )

    settled(run)

    assert (run.started_at, run.ended_at) == (STARTED - MINUTE, STARTED + 2 * MINUTE)
    stage = run.stages.get(name="infer")
    assert (stage.started_at, stage.ended_at) == (STARTED - MINUTE, STARTED + MINUTE)


def test_a_run_whose_clock_went_back_does_not_end_before_it_began(run):
    Spool.objects.update(state=State.FINISHED, ended_at=STARTED - timedelta(days=1))

    assert settled(run).ended_at == run.started_at == STARTED
    assert run.stages.get().ended_at == STARTED


def test_a_stage_fails_for_the_reason_of_the_first_process_that_did(run):
    for minutes, failure in ((3, "NCCL timeout"), (1, "out of memory")):
        add_process(
            run,
            "infer",
            State.FAILED,
            end=STARTED + minutes * MINUTE,
            failure=failure,
        )

    settled(run)

    assert run.stages.get(name="infer").failure == "out of memory"


def test_a_stage_without_processes_stays_as_it_is(run):
    Stage.objects.create(run=run, name="empty", state=State.FINISHED)

    settled(run)

    assert run.stages.get(name="empty").state == State.FINISHED


def test_settling_a_run_that_is_gone_is_no_error():
    settle_states(uuid4())


def test_a_process_silent_for_long_has_crashed(run):
    seen = timezone.now() - timedelta(seconds=91)
    Spool.objects.update(last_seen_at=seen)

    assert mark_silent() == [run.id]

    run.refresh_from_db()
    assert run.state == Stage.objects.get().state == State.CRASHED
    assert run.ended_at == seen
    assert Work.objects.filter(run=run, kind=WorkKind.COMPACT).exists()


def test_marking_twice_changes_nothing_more(run):
    Spool.objects.update(last_seen_at=timezone.now() - timedelta(seconds=91))

    assert mark_silent() == [run.id]
    assert mark_silent() == []


def test_a_process_heard_of_lately_is_running(run):
    Spool.objects.update(last_seen_at=timezone.now() - timedelta(seconds=80))

    assert mark_silent() == []


def test_a_finished_process_may_be_silent(member):
    make_run(make_project(member), state=State.FINISHED)
    Spool.objects.update(last_seen_at=timezone.now() - timedelta(days=1))

    assert mark_silent() == []


def test_a_process_that_speaks_again_is_running_again(member):
    process = Process(make_project(member), "baseline")
    process.open()
    Spool.objects.update(last_seen_at=timezone.now() - timedelta(seconds=91))
    mark_silent()

    process.send([])

    assert process.run.state == State.RUNNING
    assert process.run.ended_at is None


def test_a_stage_that_ended_wants_a_last_diagnosis(member):
    process = Process(make_project(member), "baseline")
    process.open()
    assert not has_unjudged_stage(process.run.id)

    process.send([close_message(time=START)])
    assert has_unjudged_stage(process.run.id)

    diagnosis = Diagnosis.objects.create(
        run=process.run, stage=process.spool.stage, diagnosed_at=timezone.now()
    )
    assert has_unjudged_stage(process.run.id)

    diagnosis.is_final = True
    diagnosis.save()
    assert not has_unjudged_stage(process.run.id)


def test_a_process_is_marked_silent_only_after_watching_for_as_long(run):
    now = timezone.now()
    Spool.objects.update(last_seen_at=now - timedelta(hours=1))

    assert mark_silent(now, watching_since=now - timedelta(seconds=89)) == []
    assert mark_silent(now, watching_since=now - timedelta(seconds=91)) == [run.id]


@pytest.mark.parametrize("broken", [State.CRASHED, State.FAILED])
def test_a_process_that_was_started_again_counts_by_its_last_start(run, broken):
    Spool.objects.update(state=broken, ended_at=STARTED + MINUTE, failure="killed")
    assert settled(run).state == broken
    again = add_process(run, "train", State.RUNNING, start=STARTED + 2 * MINUTE)
    assert settled(run).state == State.RUNNING

    again.state, again.ended_at = State.FINISHED, STARTED + 3 * MINUTE
    again.save()

    assert settled(run).state == State.FINISHED
    assert (run.started_at, run.ended_at) == (STARTED, STARTED + 3 * MINUTE)
    assert Stage.objects.get().failure == ""


def test_another_rank_does_not_make_up_for_one_that_broke(run):
    Spool.objects.update(state=State.CRASHED, ended_at=STARTED + MINUTE)
    other = add_process(
        run,
        "train",
        State.FINISHED,
        start=STARTED + 2 * MINUTE,
        end=STARTED + 3 * MINUTE,
    )
    other.rank = 1
    other.save()

    assert settled(run).state == State.CRASHED


def test_a_process_whose_clock_is_ahead_does_not_replace_itself(run):
    Spool.objects.update(state=State.CRASHED, ended_at=STARTED - MINUTE)

    assert settled(run).state == State.CRASHED


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (["finished"], "finished"),
        (["failed"], "failed"),
        (["crashed"], "crashed"),
        (["preempted"], "preempted"),
        # No process is known yet.
        ([], "crashed"),
    ],
)
def test_helpers_that_fell_silent_leave_it_to_others(run, states, expected):
    Spool.objects.all().delete()
    for state in states:
        add_process(run, "train", state, end=STARTED + 2 * MINUTE)
    for start in (STARTED, STARTED + MINUTE):
        add_process(
            *(run, "train", State.CRASHED),
            start=start,
            end=STARTED + MINUTE,
            is_helper=True,
        )

    assert settled(run).state == expected


def test_a_failed_helper_process_fails_the_run(run):
    Spool.objects.update(state=State.FINISHED, ended_at=STARTED + 2 * MINUTE)
    add_process(run, "train", State.FAILED, end=STARTED + MINUTE, is_helper=True)

    assert settled(run).state == State.FAILED


def random_processes(random, stage):
    return [
        process_of(
            stage,
            random.choice(State.values),
            start=STARTED + random.randrange(6) * MINUTE,
            # All times differ, because either of two simultaneous ones may set the failure.
            end=random.choice([None, STARTED + random.randrange(6) * MINUTE + moment]),
            rank=random.randrange(3),
            is_helper=random.random() < 0.4,
            failure=f"failure {number}",
        )
        for number in range(random.randrange(1, 7))
        for moment in [timedelta(milliseconds=number)]
    ]


def state_of(processes):
    """Compute the state and times of a stage from its processes, one by one."""
    last = {
        process.rank: max(p.started_at for p in processes if p.rank == process.rank)
        for process in processes
    }
    deciding = [
        process
        for process in processes
        if process.state not in BROKEN
        or process.ended_at is None
        or last[process.rank] <= max(process.ended_at, process.started_at)
    ]
    deciding_processes = [
        p for p in deciding if not p.is_helper or p.state != State.CRASHED
    ]
    deciding = deciding_processes or processes
    states = {process.state for process in deciding}
    state = next(state for state in PRECEDENCE if state in states)
    started_at = min(process.started_at for process in processes)
    # A clock that was set back must not end a stage before its start.
    ends = [max(p.ended_at, started_at) for p in processes if p.ended_at is not None]
    failed = [process for process in deciding if process.state == State.FAILED]
    failed.sort(key=lambda process: process.ended_at or process.last_seen_at)
    return (
        state,
        started_at,
        None if state == State.RUNNING else max(ends, default=None),
        failed[0].failure if failed else "",
    )


def test_whatever_the_processes_each_of_them_counts(run):
    random = Random(3)
    stage = Stage.objects.get()
    wrong = []
    for _ in range(150):
        Spool.objects.all().delete()
        processes = random_processes(random, stage)
        Spool.objects.bulk_create(processes)
        settle_states(run.id)
        stage.refresh_from_db()
        found = (stage.state, stage.started_at, stage.ended_at, stage.failure)
        if found != state_of(processes):
            wrong.append((found, state_of(processes)))

    assert wrong == []


@pytest.mark.parametrize("state", State.values)
def test_settling_costs_as_much_with_many_processes_as_with_few(run, state):
    made = []
    stage = Stage.objects.get()

    def cost():
        made.clear()
        with CaptureQueriesContext(connection) as queries:
            settle_states(run.id)
        return len(queries), len(made)

    def note(instance, **_):
        made.append(instance)

    def add(count):
        Spool.objects.bulk_create(
            process_of(stage, state, end=STARTED, rank=number % 8)
            for number in range(count)
        )
        settle_states(run.id)

    post_init.connect(note, sender=Spool)
    try:
        add(2)
        few = cost()
        add(200)
        assert cost() == few
    finally:
        post_init.disconnect(note, sender=Spool)
    assert few[1] == 0


@pytest.mark.parametrize(
    ("processes", "seconds"),
    [
        pytest.param([(0, 60), (60, 90)], 90, id="one after the other"),
        pytest.param([(0, 60), (2_100, 2_101)], 61, id="a tag added later"),
        pytest.param([(0, 60), (30, 90), (10, 20)], 90, id="at the same time"),
        pytest.param([(0, 60), (3_660, 3_720)], 120, id="waiting in a queue"),
        pytest.param([(0, 60), (50, 40)], 60, id="a clock that was set back"),
    ],
)
def test_a_runs_active_time_is_that_in_which_any_process_ran(
    member, processes, seconds
):
    project = make_project(member)
    run = Run.objects.create(project=project, name="paused")
    for times in processes:
        start, end = (STARTED + timedelta(seconds=each) for each in times)
        add_process(run, "train", State.FINISHED, start=start, end=end)

    settle_states(run.id)
    settle_states(run.id)

    run.refresh_from_db()
    assert (run.active_seconds, run.active_since) == (seconds, None)


def test_active_time_goes_on_from_the_first_process_that_runs(member):
    run = Run.objects.create(project=make_project(member), name="going on")
    since = STARTED + MINUTE
    ends = [STARTED + 2 * MINUTE, None, None]
    for start, end in zip([STARTED, since + MINUTE, since], ends, strict=True):
        state = State.RUNNING if end is None else State.FINISHED
        add_process(run, "train", state, start=start, end=end)

    settle_states(run.id)

    run.refresh_from_db()
    assert (run.active_seconds, run.active_since) == (60, since)
