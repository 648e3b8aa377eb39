"""The fast path of ingest stores the same as the slow path, or nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests.builders import (
    START,
    Process,
    close_message,
    frames,
    make_project,
    points_message,
    set_message,
)
from tracker.errors import NotAllowed, NotAuthenticated, NotFound, OutOfOrder
from tracker.ingest import write
from tracker.ingest.write import store_batch
from tracker.models import JournalEntry, Member, Role, Run, Spool, State, Token
from tracker.queries.series.series import read_points
from tracker.server.caches import Memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def process(member):
    process = Process(make_project(member), "baseline")
    process.open()
    process.send([points_message("loss", [1.0], steps=[1.0])])
    return process


@pytest.fixture
def went_the_long_way(monkeypatch):
    """Return the list of batches that took the slow path."""
    batches = []
    store = write._store

    def noted(actor, spool_id, batch):
        batches.append(batch)
        return store(actor, spool_id, batch)

    monkeypatch.setattr(write, "_store", noted)
    return batches


def point(step):
    return [points_message("loss", [step], steps=[step])]


def values(process, path="loss"):
    return read_points(process.run, path).values.tolist()


def test_the_next_points_of_known_series_go_the_short_way(process, went_the_long_way):
    before = process.spool

    receipts = [process.send(point(2.0), point(3.0)), process.send(point(4.0))]

    assert not went_the_long_way
    assert [receipt.stored for receipt in receipts] == [4, 5]
    assert values(process) == [1, 2, 3, 4]
    after = process.spool
    assert after.last_number == 5
    assert after.last_seen_at > before.last_seen_at
    assert len(after.recent_checksums) == 4 * 5
    assert [
        (entry.first_number, entry.last_number, entry.point_count)
        for entry in JournalEntry.objects.order_by("id")
    ] == [(2, 2, 1), (3, 4, 2), (5, 5, 1)]


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([points_message("new", [2.0])], id="another series"),
        pytest.param([*point(2.0), set_message("lr", 1)], id="a value"),
        pytest.param([points_message("loss", [2.0], steps=[float("nan")])], id="bad"),
        pytest.param([close_message("finished", time=START)], id="an end"),
        pytest.param([], id="nothing"),
    ],
)
def test_whatever_is_more_than_that_goes_the_long_way(
    process, went_the_long_way, messages
):
    process.send(messages)

    assert len(went_the_long_way) == 1


def test_a_batch_that_comes_again_is_stored_once(process, went_the_long_way):
    process.send(point(2.0))
    process.next_number -= 1

    receipt = process.send(point(2.0))

    assert len(went_the_long_way) == 1
    assert receipt.stored == 3
    assert values(process) == [1, 2]


def test_a_gap_is_refused(process):
    process.next_number += 1

    with pytest.raises(OutOfOrder):
        process.send(point(3.0))


def test_another_server_process_may_have_stored_more(process, went_the_long_way):
    elsewhere = Memory(1_000_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tracker.ingest.plain._positions", elsewhere)
        process.send(point(2.0))

    body = frames([point(2.0), point(3.0)], first=3)
    receipt = store_batch(process.actor, process.spool_id, body)

    assert len(went_the_long_way) == 2
    assert receipt.stored == 4
    assert values(process) == [1, 2, 3]


def test_a_run_in_the_trash_is_not_written_to(process):
    Run.objects.update(trashed_at=timezone.now())

    with pytest.raises(NotFound):
        process.send(point(2.0))

    assert process.spool.last_number == 2


def test_a_member_who_may_no_longer_write_is_refused(process):
    Member.objects.update(role=Role.VIEWER)

    # The agent has to open the run again, which is refused.
    with pytest.raises(OutOfOrder):
        process.send(point(2.0))
    with pytest.raises(NotAllowed):
        store_batch(process.actor, process.spool_id, frames([[process.opening]]))


def test_a_cached_sender_is_checked_again_for_other_messages(process):
    asked = []

    def confirm():
        asked.append(True)
        return process.actor

    for number, messages in [(3, point(2.0)), (4, [set_message("lr", 1)])]:
        body = frames([messages], first=number)
        store_batch(process.actor, process.spool_id, body, confirm=confirm)

    assert len(asked) == 1
    assert process.spool.last_number == 4


def test_a_token_that_is_worthless_stores_nothing(process):
    Token.objects.update(revoked_at=timezone.now())

    def confirm():
        raise NotAuthenticated

    body = frames([point(2.0)], first=3)
    with pytest.raises(NotAuthenticated):
        store_batch(process.actor, process.spool_id, body, confirm=confirm)

    assert process.spool.last_number == 2


def test_a_process_taken_for_dead_is_alive_again(process):
    Spool.objects.update(state=State.CRASHED)

    process.send(point(2.0))

    assert process.spool.state == State.RUNNING
    assert values(process) == [1, 2]


def test_now_and_then_the_run_is_seen_to_live(process, went_the_long_way):
    long_ago = timezone.now() - timedelta(minutes=1)
    Run.objects.update(last_seen_at=long_ago)

    process.send(point(2.0))
    process.send(point(3.0))

    assert len(went_the_long_way) == 1
    assert process.run.last_seen_at > long_ago


@pytest.mark.skipif(connection.vendor != "postgresql", reason="it alone plans so much")
def test_statements_are_prepared(process):
    process.send(point(2.0))
    process.send(point(3.0))

    with connection.cursor() as cursor:
        cursor.execute("SELECT statement, generic_plans FROM pg_prepared_statements")
        prepared = cursor.fetchall()

    [plans] = [plans for statement, plans in prepared if "WITH spool" in statement]
    assert plans >= 2
