"""Limits for rewinds."""

from __future__ import annotations

import struct
import tracemalloc
from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import START, Process, frames, make_project, set_message
from tracker.errors import TooLarge
from tracker.ingest import rewinds
from tracker.ingest.batch import read_batch
from tracker.ingest.limits import LIMITS, Limits
from tracker.models import Rewind


def rewind(paths, time=START, *, step=1.0):
    steps = struct.pack(f"<{len(paths)}d", *[step] * len(paths))
    return {"t": "rewind", "paths": list(paths), "steps": steps, "time": time}


def numbered(count, *, first=0):
    return [f"{number:x}" for number in range(first, first + count)]


@pytest.fixture
def process(member):
    process = Process(make_project(member), "baseline")
    process.open()
    return process


@pytest.fixture
def few(monkeypatch):
    """Lower the limit of a run, so that a test can exceed it."""
    monkeypatch.setattr(rewinds, "LIMITS", Limits(run_rewinds=5))


@pytest.fixture
def few_of_a_series(monkeypatch):
    monkeypatch.setattr(rewinds, "LIMITS", Limits(series_rewinds=3))


def stairs(process, count, *, path="a", first=0):
    """Send attempts, each of which resumes from a later checkpoint."""
    return [
        process.send([rewind([path], START + number, step=float(number))])
        for number in range(first, first + count)
    ]


def stored(process):
    every = Rewind.objects.filter(run=process.run)
    return sorted(every.values_list("path", "step", "time"))


def test_as_many_as_a_run_has_attributes_are_read():
    assert LIMITS.rewinds >= LIMITS.attributes
    batch = read_batch(frames([[rewind(numbered(LIMITS.rewinds))]], first=2))

    assert batch.refusals == ()
    assert len(batch.messages[0].content.steps) == LIMITS.rewinds


@pytest.mark.parametrize("in_one_frame", [True, False])
def test_more_in_several_messages_are_too_large(in_one_frame):
    messages = [rewind(numbered(60_000)), rewind(numbered(60_000, first=60_000))]
    payloads = [messages] if in_one_frame else [[message] for message in messages]

    with pytest.raises(TooLarge, match="logged again"):
        read_batch(frames(payloads, first=2))


def test_a_body_full_of_them_is_not_read_to_its_end():
    message = [rewind(numbered(50_000))]
    body = frames([message] * 20, first=2)

    tracemalloc.start()
    with pytest.raises(TooLarge):
        read_batch(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 80_000_000


@pytest.mark.django_db
@pytest.mark.database
def test_rewinds_beyond_the_maximum_of_a_run_are_refused_and_the_rest_stored(
    process, few
):
    first = process.send([rewind("abc"), rewind("xyz"), rewind("de")])
    second = process.send([rewind("f"), set_message("lr", 0.1)])

    assert [(r.code, r.index) for r in first.refused] == [("too_many_rewinds", 1)]
    assert [r.code for r in second.refused] == ["too_many_rewinds"]
    assert second.stored == 3
    stored = Rewind.objects.filter(run=process.run).values_list("path", flat=True)
    assert sorted(stored) == ["a", "b", "c", "d", "e"]
    assert process.spool.refused == {"too_many_rewinds": 2}


@pytest.mark.django_db
@pytest.mark.database
def test_a_run_of_which_all_were_refused_was_not_logged_again(process, few):
    process.send([rewind("abcdef")])

    assert process.run.rewound_at is None


@pytest.mark.django_db
@pytest.mark.database
def test_many_are_stored_whatever_a_statement_takes(process):
    process.send([rewind(numbered(2_500))])
    process.send([rewind(numbered(2_500))])

    assert Rewind.objects.filter(run=process.run).count() == 2_500


@pytest.mark.django_db
@pytest.mark.database
def test_rewinds_without_effect_make_room_for_others(process, few_of_a_series):
    for number in range(20):
        receipt = process.send([rewind("ab", START + number)])
        assert not receipt.refused
    last = START + 19

    assert ("a", 1.0, last) in stored(process)
    assert ("b", 1.0, last) in stored(process)
    assert max(Counter(path for path, *_ in stored(process)).values()) <= 3


@pytest.mark.django_db
@pytest.mark.database
def test_few_are_all_kept_so_that_a_wrong_one_can_be_deleted(process, few_of_a_series):
    for number in range(3):
        process.send([rewind("a", START + number)])

    assert [time - START for _, _, time in stored(process)] == [0, 1, 2]


@pytest.mark.django_db
@pytest.mark.database
def test_rewinds_beyond_the_maximum_of_a_series_are_refused(process, few_of_a_series):
    stairs(process, 3)
    receipt = process.send([rewind("ba", START + 9, step=9.0), set_message("lr", 0.1)])

    assert [(r.code, r.path) for r in receipt.refused] == [("too_many_rewinds", "a")]
    assert [path for path, *_ in stored(process)] == ["a", "a", "a", "b"]


@pytest.mark.django_db
@pytest.mark.database
def test_a_batch_adds_no_more_to_a_series_than_it_may_have(process, few_of_a_series):
    messages = [rewind("a", START + n, step=float(n)) for n in range(5)]
    receipt = process.send(messages)

    assert [(r.index, r.path) for r in receipt.refused] == [(3, "a"), (4, "a")]
    assert len(stored(process)) == 3


@pytest.mark.django_db
@pytest.mark.database
def test_room_is_made_of_few_series_at_once(process, few_of_a_series, monkeypatch):
    monkeypatch.setattr(rewinds, "CLEARED_AT_ONCE", 1)
    for number in range(3):
        process.send([rewind("ab", START + number)])

    first = process.send([rewind("ab", START + 3)])
    second = process.send([rewind("ab", START + 4)])

    assert len(first.refused) == 1
    assert not second.refused
    assert {("a", 1.0, START + 4), ("b", 1.0, START + 4)} <= {*stored(process)}


@pytest.mark.django_db
@pytest.mark.database
def test_room_that_is_made_is_room_of_the_run_too(process, monkeypatch):
    monkeypatch.setattr(rewinds, "LIMITS", Limits(series_rewinds=3, run_rewinds=3))
    receipts = [process.send([rewind("a", START + number)]) for number in range(10)]

    assert not any(receipt.refused for receipt in receipts)


@pytest.mark.django_db
@pytest.mark.database
def test_a_run_with_few_rewinds_is_not_searched_for_those_of_a_series(process):
    process.send([rewind("ab")])
    with CaptureQueriesContext(connection) as asked:
        process.send([rewind("ab", START + 1)])

    assert not [each for each in asked if "GROUP BY path" in each["sql"]]
