"""Repairs fix the damage that can be fixed, and change nothing else."""

from __future__ import annotations

import pytest
from django.db.models import F
from django.forms.models import model_to_dict

from tests.builders import make_project
from tests.tracker.integrity.stored import POINTS, chunks_of, damage, fill
from tests.tracker.integrity.test_run import problems_of
from tests.tracker.series.examples import noise, points
from tests.tracker.series.first_version import chunk_rows
from tracker.integrity.problem import Problem, Repair, Severity
from tracker.integrity.repair import repair
from tracker.integrity.rows import ROW_NUMBERS
from tracker.models import Attribute, JournalEntry, SeriesChunk, SeriesTicks
from tracker.queries.series.series import read_line, read_points
from tracker.series.codec import decode_ticks, encode_ticks
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(member):
    return fill(make_project(member))


def state_of(path):
    row = model_to_dict(Attribute.objects.get(path=path))
    # The sum is computed in another order.
    return row | {"total": pytest.approx(row["total"])}


def ticks_of(run, path):
    return SeriesTicks.objects.get(id=chunks_of(run, path)[0].ticks_id)


def line_of(run):
    line = read_line(run, "loss", buckets=60)
    return [
        column.tolist() for column in (line.x, line.mean, line.minimum, line.maximum)
    ]


def row_of(chunk):
    (row,) = SeriesChunk.objects.filter(id=chunk.id).values(*ROW_NUMBERS)
    # The sum is computed in another order, which changes the checksum.
    return row | {"total": pytest.approx(row["total"])}


def repair_all(run):
    return [repair(problem) for problem in problems_of(run)]


@pytest.mark.parametrize("path", ["loss", "alone"])
def test_rebuilds_a_summary_as_it_was(run, path):
    before = state_of(path)
    Attribute.objects.filter(path=path).update(
        count=F("count") + 1, total=5.0, minimum=None, last_step=-1, number=7.0
    )

    assert repair_all(run) == [True]

    assert state_of(path) == before
    assert problems_of(run) == []


def test_a_rebuilt_summary_continues_to_grow(run):
    Attribute.objects.filter(path="loss").update(count=1)
    repair_all(run)

    compact_run(run.id)

    assert Attribute.objects.get(path="loss").count == POINTS + 2
    assert problems_of(run) == []


def test_recounts_the_chunks_of_ticks(run):
    SeriesTicks.objects.update(chunk_count=9)

    assert set(repair_all(run)) == {True}

    assert problems_of(run) == []


def test_takes_away_ticks_that_no_chunk_has(run):
    sound = SeriesTicks.objects.count()
    ticks = SeriesTicks.objects.first()
    ticks.pk, ticks.chunk_count = None, 1
    ticks.save(force_insert=True)

    assert repair_all(run) == [True]

    assert SeriesTicks.objects.count() == sound
    assert problems_of(run) == []


def test_sets_a_damaged_entry_aside_and_keeps_it(run):
    damage(JournalEntry.objects.get())
    before = bytes(JournalEntry.objects.get().data)

    assert repair_all(run) == [True]

    entry = JournalEntry.objects.get()
    assert (entry.is_damaged, bytes(entry.data)) == (True, before)


def test_damaged_points_are_neither_repaired_nor_removed(run):
    chunk = chunks_of(run, "loss")[0]
    damage(chunk)
    damage(SeriesTicks.objects.get(id=chunks_of(run, "alone")[0].ticks_id))
    before = SeriesChunk.objects.count(), SeriesTicks.objects.count()

    assert set(repair_all(run)) == {False}

    assert (SeriesChunk.objects.count(), SeriesTicks.objects.count()) == before
    assert len(problems_of(run)) == 2


@pytest.mark.parametrize("place", range(2))
def test_rebuilds_the_drawing_buckets_of_a_chunk(run, place):
    chunk = chunks_of(run, "loss")[place]
    before = bytes(chunk.overview), line_of(run)
    damage(chunk, "overview")

    assert repair_all(run) == [True]

    chunk.refresh_from_db()
    assert (bytes(chunk.overview), line_of(run)) == before
    assert problems_of(run) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"maximum": 1e6, "minimum": None},
        {"count": 7, "first_time": 0, "last_step": 1e9},
        {"checksum": 7},
    ],
)
def test_rebuilds_the_row_of_a_chunk(run, changes):
    chunk = chunks_of(run, "loss")[0]
    before = row_of(chunk), line_of(run)
    SeriesChunk.objects.filter(id=chunk.id).update(**changes)

    assert repair_all(run) == [True]

    assert row_of(chunk) == before[0]
    assert line_of(run) == before[1]
    assert problems_of(run) == []


def test_rebuilds_a_summary_from_rows_after_their_repair(run):
    before = state_of("loss")
    SeriesChunk.objects.filter(id=chunks_of(run, "loss")[0].id).update(maximum=1e6)
    Attribute.objects.filter(path="loss").update(count=7)

    repair_all(run)

    assert state_of("loss") == before
    assert problems_of(run) == []


def test_rebuilds_no_row_from_damaged_points(run):
    chunk = chunks_of(run, "loss")[0]
    SeriesChunk.objects.filter(id=chunk.id).update(maximum=1e6)
    late = Problem(
        *(Severity.WARNING, "row-damaged", "here", "x", "y"),
        *(run.id, Repair.ROW, chunk.id),
    )
    damage(chunk)

    assert not repair(late)
    assert SeriesChunk.objects.get(id=chunk.id).maximum == 1e6


def test_rebuilds_the_drawing_buckets_of_ticks(run):
    ticks = ticks_of(run, "loss")
    before = bytes(ticks.overview), line_of(run)
    damage(ticks, "overview")

    assert repair_all(run) == [True]

    ticks.refresh_from_db()
    assert (bytes(ticks.overview), line_of(run)) == before
    assert problems_of(run) == []


def test_rebuilds_drawing_buckets_that_belong_to_another_chunk(run):
    loss, accuracy = chunks_of(run, "loss")[0], chunks_of(run, "accuracy")[0]
    ticks, other = ticks_of(run, "loss"), ticks_of(run, "alone")
    before = line_of(run)
    SeriesChunk.objects.filter(id=loss.id).update(overview=accuracy.overview)
    SeriesTicks.objects.filter(id=ticks.id).update(overview=other.overview)

    assert repair_all(run) == [True, True]

    assert line_of(run) == before
    assert problems_of(run) == []


def test_rebuilds_missing_drawing_buckets(run):
    SeriesChunk.objects.update(overview=b"")
    SeriesTicks.objects.update(overview=b"")

    assert set(repair_all(run)) == {True}

    assert problems_of(run) == []


def test_rebuilds_the_drawing_buckets_of_a_chunk_in_format_version_1(run):
    some = points(noise(400))
    series = Attribute.objects.get(path="alone")
    SeriesChunk.objects.filter(series=series).delete()
    (row,) = chunk_rows(some)
    chunk = SeriesChunk.objects.create(run=run, series=series, **row)
    repair_all(run)  # the ticks of the other are orphaned, and the summary differs
    assert problems_of(run) == []
    damage(chunk, "overview")

    assert repair_all(run) == [True]

    chunk.refresh_from_db()
    assert bytes(chunk.overview) == row["overview"]
    assert problems_of(run) == []


def test_rebuilds_nothing_from_damaged_data(run):
    chunk, ticks = chunks_of(run, "loss")[0], ticks_of(run, "alone")
    problems = []
    for row in (chunk, ticks):
        damage(row, "overview")
        problems += problems_of(run)
        damage(row)
    before = bytes(chunk.overview), bytes(ticks.overview)

    assert [repair(problem) for problem in problems] == [False] * len(problems)
    assert set(repair_all(run)) == {False}

    chunk.refresh_from_db()
    ticks.refresh_from_db()
    assert (bytes(chunk.overview), bytes(ticks.overview)) == before
    assert {p.code for p in problems_of(run)} == {"chunk-damaged", "ticks-damaged"}


def test_rebuilds_nothing_from_points_of_another_chunk(run):
    loss, accuracy = chunks_of(run, "loss")[0], chunks_of(run, "accuracy")[0]
    SeriesChunk.objects.filter(id=loss.id).update(data=accuracy.data)

    assert set(repair_all(run)) == {False}

    loss_now = SeriesChunk.objects.get(id=loss.id)
    assert bytes(loss_now.overview) == bytes(loss.overview)


def test_rebuilds_nothing_from_ticks_of_another_chunk(run):
    ticks = ticks_of(run, "loss")
    steps, times = decode_ticks(ticks.data)
    ticks.data = encode_ticks(steps + 1, times)
    ticks.save(update_fields=["data"])
    late = Problem(
        *(Severity.ERROR, "ticks-overview", "here", "x", "y"),
        *(run.id, Repair.TICKS_OVERVIEW, ticks.id),
    )

    assert not repair(late)
    assert set(repair_all(run)) == {False}

    assert bytes(ticks_of(run, "loss").overview) == bytes(ticks.overview)


def test_a_repair_that_comes_late_changes_nothing(run):
    SeriesTicks.objects.update(chunk_count=9)
    damage(chunks_of(run, "loss")[0], "overview")
    damage(ticks_of(run, "loss"), "overview")
    problems = problems_of(run)
    for problem in problems:
        repair(problem)
    loss = read_points(run, "loss").values.tolist()

    assert [repair(problem) for problem in problems] == [False] * len(problems)

    SeriesChunk.objects.all().delete()
    SeriesTicks.objects.all().delete()
    assert [repair(problem) for problem in problems] == [False] * len(problems)
    assert len(loss) == POINTS + 2


def test_a_problem_without_a_remedy_is_left_alone():
    problem = Problem(Severity.ERROR, "x", "here", "it is broken", "call somebody")

    assert not repair(problem)
