from __future__ import annotations

from uuid import uuid4

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.series.examples import noise, points, table
from tracker.series.codec import CHUNK_POINTS, FULL_POINTS, decode, decode_ticks
from tracker.series.downsample import BUCKET_POINTS
from tracker.series.rows import chunk_length, make_chunks


def test_cuts_a_table_in_order_of_step_whatever_order_it_comes_in():
    count = CHUNK_POINTS + 3
    shuffled = points(noise(count), steps=np.random.default_rng(1).permutation(count))

    made = list(make_chunks(uuid4(), table({1: shuffled.values}, shuffled)))

    chunks = [chunk for new in made for chunk in new.chunks]
    assert [chunk.count for chunk in chunks] == [FULL_POINTS + 2, FULL_POINTS + 1]
    assert [chunk.is_open for chunk in chunks] == [False, False]
    steps = np.concatenate([decode_ticks(new.ticks.data)[0] for new in made])
    assert steps.tolist() == list(range(count))


def test_a_chunk_is_open_until_it_is_full():
    for count, is_open in ((FULL_POINTS - 1, True), (FULL_POINTS, False)):
        (new,) = make_chunks(uuid4(), table({1: noise(count)}, points(noise(count))))
        assert new.chunks[0].is_open is is_open


@given(st.integers(0, 5_000_000))
def test_nothing_is_left_over_of_more_points_than_a_chunk_holds(count):
    length = chunk_length(count)
    last = count % length or length

    assert length <= CHUNK_POINTS
    assert count < FULL_POINTS or last >= FULL_POINTS


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
