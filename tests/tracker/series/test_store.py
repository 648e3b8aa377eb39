from __future__ import annotations

from uuid import uuid4

import numpy as np
import pytest

from tests.builders import make_project, make_run, write_series
from tests.tracker.series.examples import noise
from tracker.errors import Unavailable
from tracker.models import Attribute, JournalEntry, SeriesChunk
from tracker.series.compaction import compact_run
from tracker.series.store import (
    IDS_IN_A_STATEMENT,
    TRIES,
    Overtaken,
    batches,
    consistently,
    read_chunks,
    read_overviews,
    read_summaries,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PATH = "train/loss"


@pytest.fixture
def run(member):
    return make_run(make_project(member))


def test_reads_what_is_still_in_the_journal(run):
    write_series(run, PATH, [1, 2])
    write_series(run, PATH, [3], steps=[2])
    series_id = Attribute.objects.get(path=PATH).id

    tails = consistently({run.id}, lambda tails: tails)

    assert tails[series_id].values.tolist() == [1, 2, 3]


def test_leaves_a_damaged_entry_out_and_says_so(run, caplog):
    write_series(run, PATH, [1])
    JournalEntry.objects.update(data=b"gone")

    assert consistently({run.id}, lambda tails: tails) == {}
    assert "is damaged" in caplog.text


def test_reads_again_what_compaction_moved_meanwhile(run):
    write_series(run, PATH, [1])
    tries = []

    def read(tails):
        tries.append(len(tails))
        compact_run(run.id)
        return len(tails)

    assert consistently({run.id}, read) == 0
    assert tries == [1, 0]


def test_a_reader_that_is_overtaken_again_and_again_says_so():
    tries = []

    def read(tails):
        tries.append(tails)
        raise Overtaken

    with pytest.raises(Unavailable):
        consistently({uuid4()}, read)
    assert len(tries) == TRIES


def test_a_chunk_that_was_replaced_meanwhile_is_noticed():
    with pytest.raises(Overtaken):
        read_chunks([1])
    with pytest.raises(Overtaken):
        read_overviews([1])


def test_a_chunks_row_says_what_its_points_do(run):
    values = noise(9_000)
    values[:10] = np.nan
    write_series(run, PATH, values)
    compact_run(run.id)
    series_id = Attribute.objects.get(path=PATH).id

    summaries = read_summaries({run.id}, [series_id])[series_id]
    points = read_chunks(summaries.ids)
    overviews = read_overviews(summaries.ids)

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


def test_statements_name_a_bounded_number_of_ids():
    parts = list(batches(range(2 * IDS_IN_A_STATEMENT + 1)))

    assert [len(part) for part in parts] == [IDS_IN_A_STATEMENT] * 2 + [1]
    assert list(batches([])) == []
