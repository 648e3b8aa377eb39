"""Records are stored once and in order, with retries and compaction."""

from __future__ import annotations

import pytest

from tests.builders import (
    START,
    Process,
    close_message,
    frames,
    make_member,
    make_project,
    records_message,
)
from tests.tracker.ingest.test_store_model import cut_off, every_statement
from tracker.ingest.write import store_batch
from tracker.integrity.run import RunWalk, Seen
from tracker.models import Attribute, Kind, RecordChunk, Work
from tracker.models.records import FULL_LEVEL
from tracker.queries.series.records import Place, find_text, read_page, record_series
from tracker.records import codec, joining
from tracker.records.joining import join_records
from tracker.records.store import FAN_IN

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]


@pytest.fixture
def process():
    process = Process(make_project(make_member()), "run")
    process.open()
    return process


def texts(run, path="logs/stdout", first=0, limit=10**6, place=None):
    page = read_page(record_series(run, path), first, limit, place)
    return [value.decode() for value in page.records.listed()]


def log(process, *batches, path="logs/stdout", first=0):
    """Log one list of lines per batch, and return all of them."""
    logged = []
    for batch in batches:
        steps = range(first + len(logged), first + len(logged) + len(batch))
        process.send([records_message(path, batch, steps=list(steps))])
        logged += batch
    return logged


def lines(count, begin=0):
    return [f"line {number}" for number in range(begin, begin + count)]


def test_records_are_read_in_the_order_of_their_arrival(process):
    process.send(
        [
            records_message("logs/stdout", ["b", "a"], steps=[5, 2]),
            records_message("samples", ["s"]),
            records_message("logs/stdout", ["c"], steps=[0]),
        ]
    )

    run = process.run
    assert texts(run) == ["b", "a", "c"]
    assert texts(run, "samples") == ["s"]
    page = read_page(record_series(run, "logs/stdout"), 1, 10)
    assert page.positions.tolist() == [1, 2]
    assert page.records.steps.tolist() == [2, 0]


def test_a_series_row_says_what_it_holds(process):
    log(process, ["one", "two"], ["three\0" + "x" * 5_000])

    row = Attribute.objects.get(path="logs/stdout")
    assert row.kind == Kind.TEXT_SERIES
    assert (row.count, row.first_step, row.last_step) == (3, 0, 2)
    assert (row.first_time, row.last_time) == (START, START + 1_000_000)
    assert row.text == "three\N{REPLACEMENT CHARACTER}" + "x" * 994


def test_a_repeated_batch_is_stored_once(process):
    message = records_message("logs/stdout", ["one", "two"])
    body = frames([[message]], first=process.next_number)

    for _ in range(3):
        store_batch(process.actor, process.spool_id, body)

    assert texts(process.run) == ["one", "two"]


def test_two_processes_share_a_series(process):
    other = Process(process.run.project, "run", rank=1)
    other.open()

    log(process, ["a"])
    log(other, ["b"])
    log(process, ["c"])

    assert texts(process.run) == ["a", "b", "c"]


def test_a_path_keeps_its_kind(process):
    log(process, ["a"])

    receipt = process.send([{"t": "set", "path": "logs/stdout", "value": "x"}])

    assert [refusal.code for refusal in receipt.refused] == ["type_conflict"]
    assert texts(process.run) == ["a"]


def test_small_chunks_are_joined_while_the_run_lives(process):
    logged = log(process, *([f"{n} {m}" for m in range(3)] for n in range(2 * FAN_IN)))
    run = process.run
    assert Work.objects.filter(run=run, kind="compact").exists()

    assert join_records(run.id) == 2 * FAN_IN
    assert RecordChunk.objects.count() == 1
    logged += log(process, ["later"], first=len(logged))
    assert join_records(run.id) == 0

    assert texts(run) == logged
    assert texts(run, first=10, limit=5) == logged[10:15]


def test_joining_chunks_twice_changes_nothing(process):
    logged = log(process, *(lines(2, 2 * n) for n in range(5)))
    process.send([close_message(time=START)])
    run_id = process.run.id
    (group,) = joining._joinable(run_id, least=2)
    data = joining._read(run_id, group)
    assert join_records(run_id) == 5

    assert joining._join(run_id, group) == 0
    assert joining._put(run_id, group, data) is False

    assert texts(process.run) == logged


def test_very_many_chunks_are_joined_in_several_calls(process, monkeypatch):
    monkeypatch.setattr(joining, "MAX_REPLACED", 3)
    monkeypatch.setattr(joining, "PASS_CHUNKS", 3)
    logged = log(process, *(lines(1, n) for n in range(8)))
    process.send([close_message(time=START)])

    replaced = [join_records(process.run.id) for _ in range(6)]

    assert replaced[:2] == [3, 3]
    assert replaced[-1] == 0
    assert RecordChunk.objects.count() == 1
    assert texts(process.run) == logged


def test_after_the_run_all_is_joined_and_may_be_joined_again(process):
    logged = log(process, *(lines(2, 2 * n) for n in range(5)))
    process.send([close_message(time=START)])

    join_records(process.run.id)
    join_records(process.run.id)

    assert RecordChunk.objects.count() == 1
    assert texts(process.run) == logged


def test_full_chunks_are_left_alone(process, monkeypatch):
    monkeypatch.setattr(codec, "CHUNK_RECORDS", 10)
    logged = log(process, lines(25), lines(3, 25), lines(7, 28), lines(2, 35))
    process.send([close_message(time=START)])

    join_records(process.run.id)

    levels = RecordChunk.objects.order_by("first").values_list("count", "level")
    assert [*levels][:2] == [(10, FULL_LEVEL), (10, FULL_LEVEL)]
    assert all(count <= 10 for count, _ in levels)
    assert texts(process.run) == logged


def test_a_damaged_chunk_costs_its_own_records_only(process, caplog):
    log(process, ["a"], ["b"], ["c"])
    process.send([close_message(time=START)])
    damaged = RecordChunk.objects.get(first=1)
    RecordChunk.objects.filter(id=damaged.id).update(data=b"SMR damaged")

    assert texts(process.run) == ["a", "c"]
    for _ in range(3):
        join_records(process.run.id)
    assert RecordChunk.objects.filter(id=damaged.id).exists()
    assert texts(process.run) == ["a", "c"]
    assert "damaged and left out" in caplog.text


def test_a_range_of_steps_or_times_is_read(process):
    log(process, lines(10), lines(10, 10))
    run = process.run

    assert texts(run, place=Place("step", 3, 5)) == lines(3, 3)
    assert texts(run, place=Place("step", 19)) == ["line 19"]
    assert texts(run, place=Place("time", None, START / 1_000)) == [
        "line 0",
        "line 10",
    ]
    page = read_page(record_series(run, "logs/stdout"), 0, 2, Place("step", 8, 12))
    assert (page.positions.tolist(), page.end) == ([8, 9], 10)


def test_a_page_of_large_texts_is_small(process, monkeypatch):
    monkeypatch.setattr("tracker.queries.series.records.MAX_BYTES", 100)
    log(process, ["x" * 90, "y" * 20, "z" * 200, "end"])
    series = record_series(process.run, "logs/stdout")

    ends, position = [], 0
    while position < series.count:
        position = read_page(series, position, 100).end
        ends.append(position)

    assert ends == [1, 2, 3, 4]


def test_text_is_found_across_chunks(process, monkeypatch):
    log(process, lines(10), lines(10, 10))
    series = record_series(process.run, "logs/stdout")

    found = find_text(series, "LINE 1", 0, 100)
    assert (found.positions.tolist(), found.end) == ([1, *range(10, 20)], 20)
    monkeypatch.setattr("tracker.queries.series.records.SEARCHED_BYTES", 1)
    found = find_text(series, "line 1", 0, 100)
    assert (found.positions.tolist(), found.end) == ([1], 10)
    monkeypatch.undo()
    found = find_text(series, "line 1", 0, 3)
    assert (found.positions.tolist(), found.end) == ([1, 10, 11], 12)
    assert find_text(series, "line 1", 12, 3).positions.tolist() == [12, 13, 14]


def test_a_batch_cut_off_at_any_statement_is_stored_as_a_whole_or_not_at_all(process):
    expected = []

    def store_at(statement, is_done):
        line = f"line {len(expected)}"
        message = records_message("logs/stdout", [line])
        other = records_message(f"logs/{len(expected)}", [line])
        body = frames([[message, other]], first=process.next_number)
        was_cut = cut_off(
            lambda: store_batch(process.actor, process.spool_id, body),
            statement,
            is_done=is_done,
        )
        # Sent again, like an agent, until it is acknowledged.
        store_batch(process.actor, process.spool_id, body)
        process.next_number += 1
        expected.append(line)
        assert texts(process.run) == expected
        assert texts(process.run, f"logs/{len(expected) - 1}") == [line]
        return was_cut

    assert every_statement(store_at) > 3


def test_a_joining_cut_off_at_any_statement_loses_and_doubles_nothing(process):
    expected = []

    def join_at(statement, is_done):
        for _ in range(FAN_IN):
            expected.extend(log(process, lines(2, len(expected))))
        run = process.run
        was_cut = cut_off(lambda: join_records(run.id), statement, is_done=is_done)
        assert texts(run) == expected
        return was_cut

    assert every_statement(join_at) > 3
    assert list(RunWalk(process.run, Seen()).problems()) == []
