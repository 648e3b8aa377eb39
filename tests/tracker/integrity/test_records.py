"""The doctor's checks of records."""

from __future__ import annotations

import pytest

from tests.builders import Process, make_member, make_project, records_message
from tests.tracker.integrity.stored import flipped
from tracker.integrity.problem import Severity
from tracker.integrity.run import RunWalk, Seen
from tracker.models import Attribute, RecordChunk

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run():
    process = Process(make_project(make_member()), "run")
    process.open()
    for lines in (["one", "two"], ["three"], ["four"]):
        process.send([records_message("logs/stdout", lines)])
    return process.run


def problems(run):
    return list(RunWalk(run, Seen()).problems())


def test_correct_records_are_not_reported(run):
    seen = Seen()

    assert list(RunWalk(run, seen).problems()) == []
    assert (seen.records, seen.record_chunks, seen.unreadable_records) == (4, 3, 0)


def test_damaged_records_are_named(run):
    chunk = RecordChunk.objects.get(first=2)
    RecordChunk.objects.filter(id=chunk.id).update(data=flipped(chunk.data))

    (problem,) = problems(run)

    assert (problem.code, problem.severity) == ("record-damaged", Severity.ERROR)
    assert "logs/stdout" in problem.where
    assert "1 records are left out" in problem.what


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"first": 9}, "record-summary"),
        ({"count": 2}, "record-row"),
        ({"last_step": 7.0}, "record-row"),
        ({"value_bytes": 1}, "record-row"),
        ({"series_id": 2**40}, "record-series"),
    ],
    ids=str,
)
def test_rows_that_contradict_their_records_are_named(run, change, code):
    RecordChunk.objects.filter(first=3).update(**change)

    assert code in {problem.code for problem in problems(run)}


def test_a_wrong_count_of_records_is_reported(run):
    Attribute.objects.filter(path="logs/stdout").update(count=7)

    (problem,) = problems(run)

    assert problem.code == "record-summary"
    assert problem.what == "count is 7 in its row and 4 in its chunks"
