from __future__ import annotations

from uuid import uuid4

import numpy as np

from tests.tracker.series.examples import noise, points, table
from tracker.series.codec import CHUNK_POINTS, decode, decode_ticks
from tracker.series.downsample import BUCKET_POINTS
from tracker.series.rows import make_chunks


def test_cuts_a_table_in_order_of_step_whatever_order_it_comes_in():
    count = 2 * CHUNK_POINTS + 3
    shuffled = points(noise(count), steps=np.random.default_rng(1).permutation(count))

    made = list(make_chunks(uuid4(), table({1: shuffled.values}, shuffled)))

    chunks = [chunk for new in made for chunk in new.chunks]
    assert [chunk.count for chunk in chunks] == [CHUNK_POINTS, CHUNK_POINTS, 3]
    assert [chunk.is_open for chunk in chunks] == [False, False, True]
    steps = np.concatenate([decode_ticks(new.ticks.data)[0] for new in made])
    assert steps.tolist() == list(range(count))


def test_each_series_has_a_chunk_at_the_same_ticks():
    rows = {key: noise(5, seed=key) for key in (1, 2, 3)}

    (new,) = make_chunks(uuid4(), table(rows, points(np.zeros(5))))

    assert new.ticks.chunk_count == 3
    ticks = decode_ticks(new.ticks.data)
    for chunk in new.chunks:
        found = decode(chunk.data, ticks).values
        assert found.tolist() == rows[chunk.series_id].tolist()
        assert (chunk.minimum, chunk.maximum) == (found.min(), found.max())


def test_a_row_never_holds_nan_or_the_sign_of_zero():
    ((chunk,),) = (
        new.chunks
        for new in make_chunks(uuid4(), table({1: [np.nan]}, points([0], steps=[-0.0])))
    )

    assert (chunk.minimum, chunk.maximum, chunk.total) == (None, None, 0)
    assert str(chunk.first_step) == "0.0"


def test_where_one_bucket_would_say_what_the_row_says_there_is_no_overview():
    for count, has_overview in ((BUCKET_POINTS, False), (BUCKET_POINTS + 1, True)):
        some = points(noise(count))
        (new,) = make_chunks(uuid4(), table({1: some.values}, some))
        assert bool(new.chunks[0].overview) is bool(new.ticks.overview) is has_overview
