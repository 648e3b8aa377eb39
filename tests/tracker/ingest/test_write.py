import math
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
import pytest
from django.db import connection
from django.utils import timezone

from tests.builders import (
    START,
    Process,
    actor_of,
    browser_of,
    close_message,
    frames,
    make_member,
    make_project,
    make_run,
    open_message,
    points_message,
    set_message,
)
from tracker.actions.runs.states import mark_silent
from tracker.actor import Actor, Scope
from tracker.errors import MalformedBatch, NotAllowed, NotFound, OutOfOrder
from tracker.ingest.opening import from_microseconds
from tracker.ingest.write import LISTED_REFUSALS, store_batch
from tracker.models import (
    Attribute,
    JournalEntry,
    Kind,
    Project,
    Run,
    Spool,
    Stage,
    State,
    Work,
    WorkKind,
)
from tracker.queries.run.attributes import attribute_values
from tracker.queries.series.series import read_points

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]


@pytest.fixture
def process(member):
    process = Process(make_project(member), "baseline")
    process.open()
    return process


def attribute(run, path):
    return Attribute.objects.get(run=run, path=path)


def test_the_first_frame_makes_project_run_stage_and_spool(member):
    body = frames([[open_message("baseline", project="Vision Net", rank=2)]])

    receipt = store_batch(actor_of(member), spool_id := uuid4(), body)

    spool = Spool.objects.get(id=spool_id)
    assert (receipt.stored, receipt.refused_count) == (1, 0)
    assert spool.run.project.workspace == member.workspace
    assert (spool.run.name, spool.run.state) == ("baseline", State.RUNNING)
    assert (spool.stage.name, spool.rank, spool.host) == ("train", 2, "node-1")
    assert spool.run.started_at == datetime(2026, 1, 2, 12, tzinfo=UTC)


def test_a_second_process_joins_the_run(process):
    other = Process(process.run.project, "baseline", stage="infer", rank=1)

    other.open()

    assert other.run == process.run
    assert Stage.objects.filter(run=process.run).count() == 2


def test_points_come_back_as_they_were_sent(process):
    process.send([points_message("train/loss", [3.0, 2.0, 1.0])])

    points = read_points(process.run, "train/loss")

    assert points.steps.tolist() == [0.0, 1.0, 2.0]
    assert points.times.tolist() == [START, START + 1_000_000, START + 2_000_000]
    assert points.values.tolist() == [3.0, 2.0, 1.0]


EVERY_BIT = [
    0x7FF8000000000000,  # NaN
    0x7FF8DEADBEEF0001,  # NaN with a payload
    0x7FF0000000000001,  # signaling NaN
    0xFFF8000000000000,  # negative NaN
    0x7FF0000000000000,  # infinity
    0xFFF0000000000000,  # negative infinity
    0x8000000000000000,  # negative zero
    0x0000000000000001,  # smallest subnormal
    0x7FEFFFFFFFFFFFFF,  # largest
]


def test_every_bit_of_a_value_survives(process):
    values = np.array(EVERY_BIT, dtype="<u8").view("<f8")

    process.send([points_message("odd", values)])

    points = read_points(process.run, "odd")
    assert points.values.view("<u8").tolist() == EVERY_BIT


def test_one_batch_is_one_journal_entry(process):
    process.send(
        [points_message("a", [1.0]), points_message("b", [1.0, 2.0])],
        [points_message("a", [2.0], steps=[1.0])],
    )

    entry = JournalEntry.objects.get()
    assert (entry.first_number, entry.last_number, entry.point_count) == (2, 3, 4)
    assert attribute(process.run, "a").kind == Kind.FLOAT_SERIES


def test_a_batch_without_points_makes_no_journal_entry(process):
    process.send([set_message("lr", 0.1)], [points_message("empty", [])])

    assert not JournalEntry.objects.exists()


@pytest.mark.parametrize(
    ("value", "kind", "fields"),
    [
        pytest.param(0.5, Kind.FLOAT, {"number": 0.5}, id="float"),
        pytest.param(-0.0, Kind.FLOAT, {"number": 0.0}, id="negative zero"),
        pytest.param(3, Kind.INTEGER, {"number": 3.0, "text": None}, id="integer"),
        pytest.param(
            2**53 + 1,
            Kind.INTEGER,
            {"number": 2.0**53, "text": "9007199254740993"},
            id="integer no float holds",
        ),
        pytest.param(
            2**64 - 1, Kind.INTEGER, {"text": "18446744073709551615"}, id="largest"
        ),
        pytest.param(True, Kind.BOOLEAN, {"number": 1.0}, id="boolean"),
        pytest.param("adam", Kind.STRING, {"text": "adam"}, id="text"),
        pytest.param("\u202e😀", Kind.STRING, {"text": "\u202e😀"}, id="odd text"),
        pytest.param(
            datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            Kind.DATETIME,
            {"text": "2026-01-02T03:04:05.000000+00:00"},
            id="datetime",
        ),
        pytest.param(["b", "a"], Kind.STRING_SET, {"items": ["a", "b"]}, id="set"),
        pytest.param(
            float("nan"), Kind.FLOAT, {"number": None, "is_nan": True}, id="NaN"
        ),
        pytest.param(
            float("-inf"),
            Kind.FLOAT,
            {"number": float("-inf"), "is_nan": False},
            id="infinity",
        ),
    ],
)
def test_each_type_of_value_is_stored(process, value, kind, fields):
    process.send([set_message("x", value)])

    stored = attribute(process.run, "x")
    assert stored.kind == kind
    assert {name: getattr(stored, name) for name in fields} == fields


def test_the_last_value_stays_and_leaves_nothing_of_the_one_before(process):
    process.send([set_message("x", 2**60), set_message("x", float("nan"))])
    process.send([set_message("x", 1)])

    stored = attribute(process.run, "x")
    assert (stored.number, stored.text, stored.is_nan) == (1.0, None, False)


def test_tags_are_added_and_removed(process):
    process.send([{"t": "tags", "add": ["b", "a"], "remove": []}])
    process.send([{"t": "tags", "add": ["c"], "remove": ["a", "absent"]}])

    assert attribute(process.run, "tags").items == ["b", "c"]


def test_more_tags_than_a_set_may_hold_are_refused(process):
    for part in range(2):
        tags = [f"{part}-{number}" for number in range(600)]
        receipt = process.send([{"t": "tags", "add": tags, "remove": []}])

    assert [refusal.code for refusal in receipt.refused] == ["value_too_large"]
    assert len(attribute(process.run, "tags").items) == 600


def test_one_bad_message_in_a_thousand_does_not_spoil_the_others(process):
    messages = [set_message(f"params/{number}", number) for number in range(1_000)]
    messages[7] = {"t": "picture"}

    receipt = process.send(messages)

    assert (receipt.stored, receipt.refused_count) == (2, 1)
    assert Attribute.objects.filter(run=process.run).count() == 999
    assert process.spool.refused == {"unknown_message": 1}


def test_refusals_are_counted_in_full_and_listed_in_part(process):
    receipt = process.send([{"t": "picture"}] * 50 + [set_message("", 1)])

    assert len(receipt.refused) == LISTED_REFUSALS
    assert receipt.refused_count == 51
    assert process.spool.refused == {"unknown_message": 50, "invalid_path": 1}


def test_a_type_conflict_is_refused_and_the_rest_stored(process):
    process.send([set_message("x", "text")])

    receipt = process.send([points_message("x", [1.0]), points_message("y", [1.0])])

    assert [refusal.code for refusal in receipt.refused] == ["type_conflict"]
    assert read_points(process.run, "y").values.tolist() == [1.0]


CHANGING = [None, 0.75, True, "text", 3, ["a", "b"], 10**17, math.nan, 1.5, None]


@pytest.mark.parametrize("together", [True, False], ids=["one batch", "several"])
def test_the_last_value_counts_whatever_its_type(process, together):
    messages = [set_message("best/score", value) for value in CHANGING]
    for count in range(1, len(CHANGING) + 1):
        receipt = process.send(messages[:count] if together else [messages[count - 1]])
        stored = attribute_values([process.run.id], ["best/score"])
        value = stored[process.run.id]["best/score"].value

        assert receipt.refused_count == 0
        assert repr(value) == repr(CHANGING[count - 1])


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (set_message("a/b", "x\0"), "invalid_message"),
        (set_message("a/b", "x" * 65_537), "value_too_large"),
        (points_message("a/b", [1.0], steps=[1e18]), "invalid_points"),
    ],
    ids=["NUL", "long text", "step of nanoseconds"],
)
def test_a_refusal_names_its_path(process, message, code):
    receipt = process.send([message])

    assert [(r.code, r.path) for r in receipt.refused] == [(code, "a/b")]


def test_dropped_points_are_counted(process):
    process.send([{"t": "drop", "points": 3}], [{"t": "drop", "points": 4}])

    assert process.spool.dropped_points == 7


@pytest.mark.parametrize("state", [State.FINISHED, State.FAILED])
def test_a_close_ends_spool_stage_and_run(process, state):
    process.send([close_message(state, failure="MemoryError\0", time=START + 5)])

    assert process.spool.state == process.spool.stage.state == state
    assert process.run.state == state
    assert process.spool.failure == "MemoryError\N{REPLACEMENT CHARACTER}"
    assert process.run.ended_at - process.run.started_at == timedelta(microseconds=5)


@pytest.mark.parametrize("state", ["finished", "failed"])
def test_a_process_that_was_told_to_end_was_preempted(process, state):
    process.send([{**close_message(state, time=START + 5), "preempted": True}])

    assert process.spool.state == process.run.state == State.PREEMPTED


def test_a_preempted_run_that_is_started_again_is_running_and_ends_as_it_ends(process):
    process.send([{**close_message(time=START + 5), "preempted": True}])
    again = Process(process.run.project, "baseline", time=START + 10)
    again.open()
    assert process.run.state == State.RUNNING

    again.send([close_message(time=START + 20)])
    assert process.run.state == State.FINISHED


def test_a_run_joined_after_its_end_is_running_again(process):
    process.send([close_message(time=START)])

    Process(process.run.project, "baseline").open()

    assert process.run.state == State.RUNNING


def test_a_crashed_process_that_speaks_again_is_running(member):
    run = make_run(make_project(member), "baseline", State.CRASHED)
    spool = run.spools.get()

    receipt = store_batch(actor_of(member), spool.id, b"")

    run.refresh_from_db()
    spool.refresh_from_db()
    assert receipt.stored == 1
    assert (run.state, spool.state, spool.ended_at) == (
        State.RUNNING,
        State.RUNNING,
        None,
    )


def test_a_heartbeat_changes_nothing_but_when_it_was_last_seen(process):
    long_ago = timezone.now() - timedelta(minutes=1)
    Spool.objects.update(last_seen_at=long_ago)
    Run.objects.update(last_seen_at=long_ago)

    receipt = process.send()

    assert receipt.stored == 1
    assert process.spool.last_seen_at > long_ago
    assert process.run.last_seen_at > long_ago


def test_an_end_asks_for_compaction_and_for_a_diagnosis(process):
    process.send([points_message("x", [1.0])])
    assert not Work.objects.exists()

    process.send([close_message(time=START)])

    work = Work.objects.filter(run=process.run, due_at__lte=timezone.now())
    assert {each.kind for each in work} == {WorkKind.COMPACT, WorkKind.DIAGNOSE}


def test_a_repeated_batch_is_stored_once(process):
    body = frames([[points_message("x", [1.0]), {"t": "?"}]], first=2)

    receipts = [store_batch(process.actor, process.spool_id, body) for _ in range(3)]

    assert [receipt.stored for receipt in receipts] == [2, 2, 2]
    assert JournalEntry.objects.count() == 1
    assert process.spool.refused == {"unknown_message": 1}


def test_frames_may_be_grouped_differently_when_repeated(process):
    payloads = [[points_message("x", [float(n)], steps=[n])] for n in range(4)]

    for first, last in ((0, 2), (1, 3), (0, 4)):
        body = frames(payloads[first:last], first=first + 2)
        receipt = store_batch(process.actor, process.spool_id, body)

    assert receipt.stored == 5
    assert read_points(process.run, "x").values.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_gap_is_refused_with_the_number_expected(process):
    body = frames([[points_message("x", [1.0])]], first=5)

    with pytest.raises(OutOfOrder) as refusal:
        store_batch(process.actor, process.spool_id, body)

    assert refusal.value.expected == 2
    assert not JournalEntry.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="heartbeat"),
        pytest.param(frames([[set_message("x", 1)]], first=2), id="later frame"),
    ],
)
def test_an_unknown_spool_is_asked_for_its_first_frame(member, body):
    with pytest.raises(OutOfOrder) as refusal:
        store_batch(actor_of(member), uuid4(), body)

    assert refusal.value.expected == 1


def test_shuffled_batches_converge(process):
    payloads = [[points_message("x", [float(n)], steps=[n])] for n in range(20)]
    bodies = {
        n + 2: frames([payload], first=n + 2) for n, payload in enumerate(payloads)
    }
    order = np.random.default_rng(0).permutation(list(bodies)).tolist()

    def send(number):
        """Send a batch; return the number that the tracker expects next."""
        try:
            body = bodies[number]
            return store_batch(process.actor, process.spool_id, body).stored + 1
        except OutOfOrder as refusal:
            return refusal.expected

    expected = [send(number) for _ in range(20) for number in order]

    assert expected == sorted(expected)
    assert expected[-1] == 22
    assert read_points(process.run, "x").values.tolist() == list(map(float, range(20)))


def test_a_malformed_batch_stores_nothing(process):
    body = frames([[points_message("x", [1.0])]], first=2) + b"rest"

    with pytest.raises(MalformedBatch):
        store_batch(process.actor, process.spool_id, body)

    assert process.spool.last_number == 1
    assert not Attribute.objects.exists()


@pytest.mark.parametrize(
    "caller",
    [
        pytest.param(lambda member: actor_of(member, Scope.READ), id="read token"),
        pytest.param(browser_of, id="browser"),
        pytest.param(
            lambda member: actor_of(
                make_member("eve", "viewer", workspace=member.workspace)
            ),
            id="viewer",
        ),
        pytest.param(
            lambda member: Actor(
                make_member("mallory").user_id, member.workspace_id, Scope.MANAGE
            ),
            id="no member",
        ),
    ],
)
def test_only_editors_write(member, caller):
    with pytest.raises(NotAllowed):
        store_batch(caller(member), uuid4(), frames([[open_message()]]))

    assert not Project.objects.exists()


def test_an_editor_with_an_ingest_token_writes(member):
    editor = make_member("bob", "member", workspace=member.workspace)

    receipt = store_batch(
        actor_of(editor, Scope.LOG), uuid4(), frames([[open_message()]])
    )

    assert receipt.stored == 1


def test_another_workspaces_spool_looks_absent(process, stranger):
    body = frames([[set_message("x", 1)]], first=2)

    with pytest.raises(OutOfOrder) as refusal:
        store_batch(actor_of(stranger), process.spool_id, body)

    assert refusal.value.expected == 1
    assert not Attribute.objects.exists()


def test_another_workspaces_spool_cannot_be_taken_over(process, stranger):
    with pytest.raises(NotFound):
        store_batch(
            actor_of(stranger), process.spool_id, frames([[open_message("evil")]])
        )

    assert not Run.objects.filter(name="evil").exists()


def test_a_token_cannot_open_in_another_workspace(member, stranger):
    opening = open_message(workspace=stranger.workspace.slug)

    with pytest.raises(NotFound):
        store_batch(actor_of(member), uuid4(), frames([[opening]]))


def test_a_run_in_the_trash_is_not_written_to(process):
    Run.objects.update(trashed_at=timezone.now())

    with pytest.raises(NotFound):
        process.send([set_message("x", 1)])
    with pytest.raises(NotFound):
        Process(process.spool.run.project, "baseline").open()


@pytest.mark.parametrize(
    "path", ["<script>alert(1)</script>", "../etc", "__proto__", "\u202e", "x" * 1_024]
)
def test_a_hostile_path_is_only_a_path(process, path):
    process.send(
        [points_message(path, [1.0]), set_message(f"{path[:1000]}/value", path)]
    )

    assert read_points(process.run, path.strip("/")).values.tolist() == [1.0]
    assert attribute(process.run, f"{path[:1000]}/value").text == path


def test_names_that_differ_only_in_their_unicode_form_are_two(process):
    process.send([set_message("caf\u00e9", 1), set_message("cafe\u0301", 2)])

    assert Attribute.objects.filter(run=process.run).count() == 2


def test_the_acknowledged_path_costs_few_statements(
    process, django_assert_max_num_queries
):
    messages = [points_message(f"metric/{number}", [1.0]) for number in range(50)]
    process.send(messages)
    process.send(messages)

    with django_assert_max_num_queries(10):
        process.send(messages)


def in_threads(call, times):
    def close_after(number):
        try:
            return call(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(close_after, range(times)))


@pytest.mark.django_db(transaction=True)
def test_the_same_batch_from_many_threads_is_stored_once():
    actor = actor_of(make_member())
    body = frames([[open_message()], [points_message("x", [1.0]), set_message("y", 1)]])
    spool_id = uuid4()

    receipts = in_threads(lambda _: store_batch(actor, spool_id, body), 20)

    assert {receipt.stored for receipt in receipts} == {2}
    assert Run.objects.count() == Spool.objects.count() == 1
    assert JournalEntry.objects.count() == 1
    assert JournalEntry.objects.get().point_count == 1


@pytest.mark.django_db(transaction=True)
def test_many_processes_open_one_run_at_once():
    actor = actor_of(make_member())

    def open_and_write(rank):
        messages = [points_message(f"x/{n}", [1.0]) for n in range(20)]
        tags = {"t": "tags", "add": [f"rank-{rank}"], "remove": []}
        # Each in another order, to check that they do not deadlock.
        shuffled = np.random.default_rng(rank).permutation(messages).tolist()
        payloads = [[open_message(rank=rank)], [*shuffled, tags]]
        return store_batch(actor, uuid4(), frames(payloads))

    receipts = in_threads(open_and_write, 12)

    assert {receipt.refused_count for receipt in receipts} == {0}
    run = Run.objects.get()
    assert run.spools.count() == 12
    assert attribute(run, "tags").items == sorted(f"rank-{rank}" for rank in range(12))
    assert len(read_points(run, "x/0").values) == 12


def test_a_crash_reported_late_ends_the_run_at_the_time_of_the_crash(process):
    process.send([points_message("a", [1.0])])
    Spool.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
    mark_silent()

    process.send([points_message("a", [2.0], steps=[1.0])])
    process.send([close_message("crashed", time=START + 5_000_000)])

    assert process.run.state == State.CRASHED
    assert process.run.ended_at == from_microseconds(START + 5_000_000)


def test_a_repeated_batch_brings_no_crashed_process_back(process):
    process.send([close_message("crashed", time=START)])
    process.next_number -= 1
    process.send([close_message("crashed", time=START)])

    assert process.run.state == State.CRASHED
