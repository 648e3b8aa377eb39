"""Permissions to join a finished run and to change it."""

import pytest

from tests.builders import (
    SECOND,
    START,
    Process,
    actor_of,
    close_message,
    make_member,
    make_project,
    points_message,
    set_message,
)
from tracker.actor import Scope
from tracker.errors import RunFinished
from tracker.models import Attribute, Reopening, Rewind, Role, Run, State

pytestmark = [pytest.mark.django_db, pytest.mark.database]

END = START + 100 * SECOND
AFTER = END + SECOND
CHANGES = [
    set_message("params/lr", 0.9),
    {"t": "tags", "add": [], "remove": ["best"]},
    {
        "t": "rewind",
        "paths": ["loss"],
        "steps": b"\0" * 8,
        "time": AFTER,
    },
]


@pytest.fixture
def project(member):
    return make_project(member)


@pytest.fixture
def ingest(member):
    return actor_of(member, Scope.LOG)


def ended(project, actor, state="finished", **opening):
    """An ended run that was created with an ingest token."""
    process = Process(project, "baseline", actor=actor)
    process.opening = {**process.opening, **opening}
    process.send(
        [process.opening],
        [
            points_message("loss", range(200)),
            set_message("params/lr", 0.1),
            {"t": "tags", "add": ["best"], "remove": []},
        ],
        [close_message(state, time=END)],
    )
    return process.run


def join(project, actor, *messages, time=AFTER, stage="train", **opening):
    process = Process(project, "baseline", actor=actor, time=time, stage=stage)
    process.opening = {**process.opening, **opening}
    return process.send([process.opening], [*messages])


def is_unchanged(run):
    return (
        Attribute.objects.get(run=run, path="params/lr").number == 0.1
        and Attribute.objects.get(run=run, path="tags").items == ["best"]
        and not Rewind.objects.filter(run=run).exists()
    )


def test_an_ingest_token_cannot_reopen_a_finished_run(project, ingest):
    run = ended(project, ingest)

    with pytest.raises(RunFinished, match="'baseline' is finished"):
        join(project, ingest, *CHANGES, resume=True)

    run.refresh_from_db()
    assert run.state == State.FINISHED
    assert is_unchanged(run)
    assert not Reopening.objects.exists()


@pytest.mark.parametrize("state", ["failed", "preempted"])
def test_an_ingest_token_resumes_a_run_that_did_not_finish(project, ingest, state):
    run = ended(project, ingest, state)

    receipt = join(project, ingest, *CHANGES, resume=True)

    assert not receipt.refused
    assert Attribute.objects.get(run=run, path="params/lr").number == 0.9
    assert not Reopening.objects.exists()


def test_a_full_token_reopens_a_finished_run_and_that_is_recorded(project, ingest):
    run = ended(project, ingest)
    full = actor_of(project.workspace.members.get())

    receipt = join(project, full, *CHANGES, resume=True)

    reopening = Reopening.objects.get(run=run)
    run.refresh_from_db()
    assert not receipt.refused
    assert run.state == State.RUNNING
    assert reopening.may_change
    assert (reopening.user_id, reopening.token_id) == (full.user_id, full.token_id)


def test_its_maker_resumes_a_finished_run_that_was_opened_with_resume(project, ingest):
    run = ended(project, ingest, resume=True)

    assert not join(project, ingest, *CHANGES, resume=True).refused

    assert Reopening.objects.get(run=run).may_change


def test_a_colleagues_ingest_token_cannot_resume_it(project, ingest):
    ended(project, ingest, resume=True)
    colleague = make_member("bo", Role.MEMBER, workspace=project.workspace)

    with pytest.raises(RunFinished):
        join(project, actor_of(colleague, Scope.LOG), *CHANGES, resume=True)


def test_a_colleagues_ingest_token_makes_no_run_resumable(project, ingest):
    process = Process(project, "baseline", actor=ingest)
    process.open()
    colleague = make_member("bo", Role.MEMBER, workspace=project.workspace)

    join(project, actor_of(colleague, Scope.LOG), resume=True)

    assert not Run.objects.get().is_resumable


@pytest.mark.parametrize(
    "joining",
    [
        pytest.param({"time": END - SECOND, "rank": 1}, id="late rank"),
        pytest.param({"stage": "evaluate"}, id="new stage"),
        pytest.param({"time": AFTER, "began": START}, id="spool that goes on"),
    ],
)
def test_late_ranks_and_new_stages_add_to_a_finished_run_and_change_nothing(
    project, ingest, joining
):
    run = ended(project, ingest)

    receipt = join(
        project,
        ingest,
        *CHANGES,
        set_message("params/lr", 0.1),
        set_message("accuracy", 0.5),
        set_message("accuracy", 0.9),
        {"t": "tags", "add": ["evaluated"], "remove": []},
        points_message("loss", [1.0, 2.0]),
        **joining,
    )

    assert [refusal.code for refusal in receipt.refused] == ["run_finished"] * 3
    assert Attribute.objects.get(run=run, path="params/lr").number == 0.1
    assert Attribute.objects.get(run=run, path="tags").items == ["best", "evaluated"]
    assert not Rewind.objects.exists()
    assert Attribute.objects.get(run=run, path="accuracy").number == 0.9
    assert not Reopening.objects.get(run=run).may_change


def test_frames_of_a_process_that_was_there_before_the_end_are_stored(project, ingest):
    late = Process(project, "baseline", actor=ingest, rank=1)
    late.open()
    run = ended(project, ingest)
    late.send([close_message(time=END)])

    run.refresh_from_db()
    assert run.state == State.FINISHED
    late.send([set_message("note", "delivered late")])

    assert Attribute.objects.get(run=run, path="note").text == "delivered late"
    assert not Reopening.objects.exists()


def test_a_process_that_has_closed_changes_nothing_any_more(project, ingest):
    process = Process(project, "baseline", actor=ingest)
    process.send(
        [process.opening],
        [set_message("params/lr", 0.1), {"t": "tags", "add": ["best"], "remove": []}],
        [close_message(time=END)],
    )

    receipt = process.send(CHANGES)

    assert [refusal.code for refusal in receipt.refused] == ["run_finished"] * 3
    assert is_unchanged(process.run)


def test_the_same_opening_twice_is_one_reopening(project, ingest):
    ended(project, ingest)
    process = Process(project, "baseline", actor=ingest, stage="evaluate", time=AFTER)

    process.open()
    process.next_number = 1
    process.open()

    assert Reopening.objects.count() == 1
