from __future__ import annotations

import re
from dataclasses import fields
from uuid import uuid4

import numpy as np
import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F

from tests.builders import make_project, make_run, write_series
from tests.tracker.series.examples import noise
from tracker.models import Attribute, SeriesChunk, SeriesTicks
from tracker.queries.series.series import read_points
from tracker.series.compaction import compact_run
from tracker.series.downsample import Buckets
from tracker.series.store import (
    IDS_IN_A_STATEMENT,
    Overtaken,
    batches,
    read_chunks,
    read_overviews,
    read_summaries,
)
from tracker.server.caches import Memory

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]

PATH = "train/loss"


@pytest.fixture
def run(member):
    return make_run(make_project(member))


@pytest.mark.skipif(not settings.IS_SQLITE, reason="PostgreSQL keeps bytes elsewhere")
def test_sqlite_reads_checksums_from_the_index_and_not_behind_all_bytes():
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pragma_index_info('chunk_by_step')")
        found = [name for (name,) in cursor.fetchall()]

    # A migration that copies the table recreates the model's index.
    assert found == ["run_id", "series_id", "first_step", "id", "checksum"]


@pytest.mark.skipif(settings.IS_SQLITE, reason="SQLite has no partitions")
@pytest.mark.parametrize("count", [1, 3])
def test_a_prepared_statement_looks_into_the_partitions_of_its_runs_only(run, count):
    run_ids = [run.id, *(uuid4() for _ in range(count - 1))]
    read_summaries(run_ids, [1])

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, cardinality(parameter_types) FROM pg_prepared_statements"
            " WHERE statement LIKE '%tracker_serieschunk%' ORDER BY prepare_time DESC"
        )
        name, places = cursor.fetchone()
        keys = [f"'{run_id}'" for run_id in run_ids]
        keys += keys[-1:] * (places - 1 - count)
        cursor.execute(f'EXPLAIN EXECUTE "{name}" ({", ".join(keys)}, ARRAY[1])')
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert 1 <= len(set(re.findall(r"on (tracker_serieschunk_\w+)", plan))) <= count


def test_a_chunk_that_was_replaced_meanwhile_is_noticed(run):
    with pytest.raises(Overtaken):
        read_chunks({run.id}, [1])
    with pytest.raises(Overtaken):
        read_overviews({run.id}, [1])


def test_ticks_that_are_gone_while_their_chunk_is_not_are_damage(run, caplog):
    write_series(run, PATH, noise(200))
    compact_run(run.id)
    SeriesTicks.objects.all().delete()
    chunk_id = SeriesChunk.objects.get().id

    assert read_chunks({run.id}, [chunk_id]) == {}
    assert read_overviews({run.id}, [chunk_id]) == {}
    assert f"chunk {chunk_id} is damaged" in caplog.text


def test_damaged_ticks_leave_out_their_chunks_and_no_others(run, caplog):
    for steps in ([0, 1], [10, 11]):
        write_series(run, PATH, [1, 2], steps=steps)
        compact_run(run.id)
    first = SeriesTicks.objects.order_by("id").first()
    SeriesTicks.objects.filter(id=first.id).update(data=b"gone")

    assert read_points(run, PATH).steps.tolist() == [10, 11]
    assert f"ticks {first.id} is damaged" in caplog.text


def test_a_chunks_row_says_what_its_points_do(run):
    values = noise(9_000)
    values[:10] = np.nan
    write_series(run, PATH, values)
    compact_run(run.id)
    series_id = Attribute.objects.get(path=PATH).id

    summaries = read_summaries({run.id}, [series_id])[series_id]
    points = read_chunks({run.id}, summaries.ids)
    overviews = read_overviews({run.id}, summaries.ids)

    for chunk_id, count, low in zip(
        summaries.ids, summaries.buckets.count, summaries.buckets.minimum, strict=True
    ):
        assert len(points[chunk_id]) == overviews[chunk_id].count.sum() == count
        assert np.nanmin(points[chunk_id].values) == low
        assert np.nanmin(overviews[chunk_id].minimum) == low


def test_a_chunk_of_nothing_but_nan_has_no_minimum(run):
    write_series(run, PATH, [np.nan])
    compact_run(run.id)
    series_id = Attribute.objects.get(path=PATH).id

    assert SeriesChunk.objects.get().minimum is None
    summaries = read_summaries({run.id}, [series_id])[series_id]
    assert np.isnan(summaries.buckets.minimum).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"count": F("count") + 1},
        {"finite_count": F("finite_count") - 1},
        {"minimum": F("minimum") - 1},
        {"minimum": None},
        {"maximum": 1e6},
        {"total": F("total") + 1},
        {"first_step": F("first_step") - 1e6},
        {"last_step": F("last_step") + 1},
        {"first_time": F("first_time") - 1},
        {"last_time": F("last_time") + 1},
        {"checksum": F("checksum") / 2},
    ],
    ids=str,
)
def test_a_damaged_row_is_computed_from_its_points(run, caplog, changes):
    write_series(run, PATH, noise(9_000))
    compact_run(run.id)
    chunk = SeriesChunk.objects.get()
    before = read_summaries({run.id}, [chunk.series_id])[chunk.series_id]
    SeriesChunk.objects.update(**changes)

    after = read_summaries({run.id}, [chunk.series_id])[chunk.series_id]

    assert after.ids == before.ids
    for field in fields(Buckets):
        found = getattr(after.buckets, field.name).tolist()
        assert found == pytest.approx(getattr(before.buckets, field.name).tolist())
    assert f"row of chunk {chunk.id} is damaged" in caplog.text


def test_a_damaged_row_with_damaged_points_is_left_out(run, caplog):
    for first in (0, 9_000, 18_000):
        write_series(run, PATH, noise(9_000), steps=np.arange(first, first + 9_000))
        compact_run(run.id)
    first, second, third = SeriesChunk.objects.order_by("first_step")
    SeriesChunk.objects.filter(id=second.id).update(maximum=1e6, data=b"gone")

    (summaries,) = read_summaries({run.id}, [first.series_id]).values()

    assert summaries.ids == [first.id, third.id]
    assert summaries.buckets.first_step.tolist() == [0, 18_000]
    assert f"chunk {second.id} is damaged and left out" in caplog.text


def test_a_row_of_an_earlier_version_has_no_checksum_and_is_taken_as_it_is(run, caplog):
    write_series(run, PATH, noise(9_000))
    compact_run(run.id)
    SeriesChunk.objects.update(checksum=None, maximum=50)
    series_id = SeriesChunk.objects.get().series_id

    summaries = read_summaries({run.id}, [series_id])[series_id]

    assert summaries.buckets.maximum.tolist() == [50]
    assert not caplog.text


def test_statements_name_a_bounded_number_of_ids():
    parts = list(batches(range(2 * IDS_IN_A_STATEMENT + 1)))

    assert [len(part) for part in parts] == [IDS_IN_A_STATEMENT] * 2 + [1]
    assert list(batches([])) == []


@pytest.mark.django_db(transaction=True)
def test_overviews_are_read_once_while_they_are_remembered(
    run, monkeypatch, django_assert_num_queries
):
    monkeypatch.setattr("tracker.series.store._overviews", Memory(10_000_000))
    for first in (0, 9_000):
        write_series(run, PATH, noise(9_000), steps=np.arange(first, first + 9_000))
        compact_run(run.id)
    ids = list(SeriesChunk.objects.values_list("id", flat=True))
    found = read_overviews({run.id}, ids)

    with django_assert_num_queries(0):
        again = read_overviews({run.id}, ids)
    monkeypatch.setattr("tracker.series.store._overviews", Memory(0))
    anew = read_overviews({run.id}, ids)

    assert again == found
    assert len(ids) > 1
    assert all(anew[i].maximum.tolist() == found[i].maximum.tolist() for i in ids)


def test_overviews_read_in_a_transaction_are_not_cached(run):
    write_series(run, PATH, noise(9_000))
    compact_run(run.id)
    (chunk_id,) = SeriesChunk.objects.values_list("id", flat=True)[:1]

    before = read_overviews({run.id}, [chunk_id])[chunk_id]
    SeriesChunk.objects.filter(id=chunk_id).update(overview=b"damaged")
    after = read_overviews({run.id}, [chunk_id])[chunk_id]

    # Recomputed from the points, so it was not in the cache.
    assert after is not before


def test_damaged_overviews_are_not_cached(run, caplog):
    write_series(run, PATH, noise(9_000))
    compact_run(run.id)
    chunk_id = SeriesChunk.objects.values_list("id", flat=True)[0]
    SeriesChunk.objects.filter(id=chunk_id).update(overview=b"damaged")

    for _ in range(2):
        caplog.clear()
        read_overviews({run.id}, [chunk_id])
        assert f"overview of chunk {chunk_id} is damaged" in caplog.text
