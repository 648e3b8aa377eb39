"""Points in the journal are read together with those in chunks, and no others."""

from __future__ import annotations

from contextlib import ExitStack
from uuid import uuid4

import numpy as np
import pytest
from django.test import Client

from tests.builders import Process, make_project, make_run, points_message, write_series
from tests.tracker.series.examples import noise
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.errors import Unavailable
from tracker.models import Attribute, JournalEntry
from tracker.queries.series.series import read_line, read_points
from tracker.series import compaction, store, tails
from tracker.series.compaction import compact_run
from tracker.series.store import Overtaken
from tracker.series.tails import TRIES, consistently

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PATH = "train/loss"
FEW = 100


@pytest.fixture
def run(member):
    return make_run(make_project(member))


@pytest.fixture
def is_long(monkeypatch):
    """Treat the journal as long from a few points on."""
    of_statement = f"<= {tails.POINTS_AT_ONCE}"
    statement = tails.SELECT_ENTRIES.replace(of_statement, f"<= {FEW}")
    monkeypatch.setattr(tails, "SELECT_ENTRIES", statement)
    monkeypatch.setattr(tails, "POINTS_AT_ONCE", FEW)


@pytest.fixture
def others(run, is_long):
    """Ten entries of a thousand series, of which at most two are requested."""
    process = Process(run.project, run.name)
    process.open()
    paths = [f"metric/{number}" for number in range(1_000)]
    for number in range(10):
        first = points_message(paths[0], [0.0] * 5, steps=number * 5 + np.arange(5))
        values = number * 1_000_000 + np.arange(5_000.0)
        process.send([{**first, "paths": paths, "values": values.tobytes()}])
    return [Attribute.objects.get(path=path).id for path in paths[:2]]


def held_by(found):
    """Return the size of the tables in bytes."""
    arrays = [
        array
        for group in found._groups
        for table in group
        for array in (table.series_ids, table.steps, table.times, table.values)
    ]
    assert all(array.base is None for array in arrays)
    return sum(array.nbytes for array in arrays)


def test_reads_what_is_still_in_the_journal(run):
    write_series(run, PATH, [1, 2])
    write_series(run, PATH, [3], steps=[2])
    series_id = Attribute.objects.get(path=PATH).id

    tails = consistently({run.id}, [series_id], lambda tails, _: tails)

    assert tails.points_of([series_id])[series_id].values.tolist() == [1, 2, 3]


def test_skips_and_logs_a_damaged_entry(run, caplog):
    write_series(run, PATH, [1])
    series_id = Attribute.objects.get(path=PATH).id
    JournalEntry.objects.update(data=b"gone")

    tails = consistently({run.id}, [series_id], lambda tails, _: tails)

    assert len(tails.points_of([series_id])[series_id]) == 0
    assert "is damaged" in caplog.text


@pytest.fixture
def compacted_before_chunks(monkeypatch):
    """Let compaction run before the next reads of chunks; return their number."""
    read_summaries = tails.read_summaries
    looks = []

    def overtake(run, times):
        def read_after_compaction(*arguments):
            looks.append(arguments)
            if len(looks) <= times:
                compact_run(run.id)
            return read_summaries(*arguments)

        monkeypatch.setattr(tails, "read_summaries", read_after_compaction)
        return looks

    return overtake


def counts_of(series_id):
    """Read how many points of a series are in the journal, and how many in chunks."""

    def read(tails, summaries):
        chunks = summaries.get(series_id)
        return (
            len(tails.points_of([series_id])[series_id]),
            int(chunks.buckets.count.sum()) if chunks else 0,
        )

    return read


def test_points_moved_by_compaction_are_read_from_chunks(run, compacted_before_chunks):
    write_series(run, PATH, [1])
    series_id = Attribute.objects.get(path=PATH).id
    looks = compacted_before_chunks(run, 1)

    assert consistently({run.id}, [series_id], counts_of(series_id)) == (0, 1)
    assert len(looks) == 2


def test_points_moved_after_reading_the_chunks_come_from_the_journal(run):
    write_series(run, PATH, [1])
    series_id = Attribute.objects.get(path=PATH).id
    tries = []

    def read(tails, summaries):
        compact_run(run.id)
        tries.append(counts_of(series_id)(tails, summaries))
        return tries[-1]

    assert consistently({run.id}, [series_id], read) == (1, 0)
    assert len(tries) == 1


def test_a_reader_overtaken_too_often_raises_unavailable():
    tries = []

    def read(*found):
        tries.append(found)
        raise Overtaken

    with pytest.raises(Unavailable):
        consistently({uuid4()}, [1], read)
    assert len(tries) == TRIES


def test_only_requested_series_of_a_long_journal_are_in_memory(run, others):
    found = consistently({run.id}, others[:1], lambda tails, _: tails)

    # Ten entries of five points with their ticks, of 50,000 points.
    assert held_by(found) <= 10 * (5 * 24 + 8)
    points = found.points_of(others[:1])[others[0]]
    assert points.steps.tolist() == list(range(50))
    assert points.values[::5].tolist() == [n * 1_000_000 for n in range(10)]


def test_a_long_journal_is_read_as_a_short_one_is(run, others, monkeypatch):
    write_series(run, "alone", noise(30), steps=np.arange(30) % 7)
    paths = ["metric/0", "metric/1", "alone", "absent"]
    bounded = {path: read_points(run, path) for path in paths}
    monkeypatch.undo()

    for path in paths:
        whole = read_points(run, path)
        for name in ("steps", "times", "values"):
            found = getattr(bounded[path], name).tolist()
            assert found == getattr(whole, name).tolist(), path


def test_few_entries_of_a_long_journal_are_in_memory_at_a_time(
    run, is_long, monkeypatch
):
    for number in range(6):
        write_series(run, PATH, [1.0] * 40, steps=number * 40 + np.arange(40))
    read, rows_by_id = [], store.rows_by_id

    def noted(model, run_ids, ids, *columns):
        read.append(len(ids))
        return rows_by_id(model, run_ids, ids, *columns)

    monkeypatch.setattr(tails, "rows_by_id", noted)

    assert read_line(run, PATH).count == 240
    assert read == [2, 2, 2]


def test_a_long_journal_is_read_once_however_often_compaction_is_at_it(
    run, others, monkeypatch, compacted_before_chunks
):
    # A pass processes one entry, and each read of chunks is overtaken by a pass.
    monkeypatch.setattr(compaction, "PASS_ENTRIES", 1)
    monkeypatch.setattr(compaction, "PASSES", 1)
    read, rows_by_id = [], tails.rows_by_id

    def noted(model, run_ids, ids, *columns):
        read.extend(ids)
        return rows_by_id(model, run_ids, ids, *columns)

    monkeypatch.setattr(tails, "rows_by_id", noted)
    looks = compacted_before_chunks(run, 6)

    found = consistently({run.id}, others[:1], counts_of(others[0]))

    assert found == (4 * 5, 6 * 5)
    assert len(looks) == 7
    assert len(read) == len(set(read)) == 10


def test_a_long_journal_is_read_while_it_is_emptied(run, others, monkeypatch):
    monkeypatch.setattr(compaction, "PASS_ENTRIES", 1)
    monkeypatch.setattr(compaction, "PASSES", 1)
    rows_by_id = tails.rows_by_id

    def read_after_compaction(*arguments):
        compact_run(run.id)
        return rows_by_id(*arguments)

    monkeypatch.setattr(tails, "rows_by_id", read_after_compaction)

    for path in ("metric/0", "metric/1"):
        points = read_points(run, path)
        assert points.steps.tolist() == list(range(50))
    # Each entry disappeared before its data was read, or after.
    assert JournalEntry.objects.count() == 0


def test_entries_that_go_before_their_data_is_read_are_noticed(
    run, others, monkeypatch
):
    every_row = tails.every_row

    def read_before_compaction(*arguments, **named):
        found = every_row(*arguments, **named)
        compact_run(run.id)
        return found

    monkeypatch.setattr(tails, "every_row", read_before_compaction)

    assert len(read_points(run, "metric/0")) == 50


def test_a_damaged_entry_of_a_long_journal_is_left_out(run, others, caplog):
    first = JournalEntry.objects.order_by("id").first()
    JournalEntry.objects.filter(id=first.id).update(data=b"gone")

    assert len(read_points(run, "metric/0")) == 45
    assert f"journal entry {first.id} is damaged" in caplog.text


def test_more_points_of_one_series_than_can_be_held_are_refused(
    run, is_long, monkeypatch
):
    monkeypatch.setattr(tails, "MAX_POINTS", 200)
    write_series(run, PATH, noise(201))
    write_series(run, "other", noise(150))

    assert len(read_points(run, "other")) == 150
    with pytest.raises(Unavailable, match="are not compacted yet"):
        read_points(run, PATH)
    compact_run(run.id)
    assert len(read_points(run, PATH)) == 201


def test_few_long_journals_are_read_at_once_and_the_others_hear_when_to_come(
    member, run, is_long, monkeypatch
):
    monkeypatch.setattr(tails, "WAIT_SECONDS", 0)
    write_series(run, PATH, noise(200))
    short = make_run(run.project, "short")
    write_series(short, PATH, noise(20))
    token = make_token(member, "reader", Scope.READ)
    client = Client(headers={"authorization": f"Bearer {token}"})

    def answer(of):
        return client.get(f"/api/v1/runs/{of.id}/series", {"path": PATH})

    with ExitStack() as others:
        for _ in range(tails.LONG_READS_AT_ONCE):
            others.enter_context(tails._room_for([(1, 200, None)]))
        refused = answer(run)
        assert answer(short).status_code == 200

    assert refused.status_code == 503
    assert int(refused["Retry-After"]) > 0
    assert refused.json()["error"] == {
        "code": Unavailable.code,
        "message": tails.OTHERS_READ,
    }
    assert answer(run).status_code == 200


def test_a_failed_read_of_a_long_journal_frees_its_slot(run, others):
    def fail(*_):
        raise ZeroDivisionError

    for _ in range(tails.LONG_READS_AT_ONCE + 1):
        with pytest.raises(ZeroDivisionError):
            consistently({run.id}, others, fail)


def test_a_page_says_that_a_journal_is_too_long(
    member, run, is_long, monkeypatch, client_of
):
    monkeypatch.setattr(tails, "MAX_POINTS", 100)
    write_series(run, PATH, noise(200))

    response = client_of(member).get(
        f"/runs/{run.id}/figures/series", {"path": PATH}, headers={"hx-request": "true"}
    )

    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    assert b"are not compacted yet" in response.content
