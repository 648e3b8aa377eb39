"""The record at a step, compared with a search through all records."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.records.examples import records
from tracker.records.nearest import (
    MAX_WITHIN,
    ChunkSteps,
    chunks_to_read,
    place_at,
)

STEPS = st.lists(st.integers(0, 9), min_size=1, max_size=6)


def nearest(steps, step):
    """Return the index of the last record with the highest step up to this one."""
    return max(
        ((each, place) for place, each in enumerate(steps) if each <= step),
        default=(None, None),
    )[1]


@given(STEPS, st.integers(-1, 10))
def test_the_last_of_the_nearest_stands_there(steps, step):
    found = place_at(records([b""] * len(steps), steps=steps), step)

    assert found == nearest(steps, step)


@given(st.lists(STEPS, min_size=1, max_size=MAX_WITHIN), st.integers(-1, 10))
def test_the_chunks_that_are_read_hold_it(pieces, step):
    every = [each for piece in pieces for each in piece]
    firsts = [sum(map(len, pieces[:number])) for number in range(len(pieces))]
    chunks = [
        ChunkSteps(number, first, min(piece), max(piece))
        for number, (first, piece) in enumerate(zip(firsts, pieces, strict=True))
    ]

    read = chunks_to_read(chunks, step)

    expected = nearest(every, step)
    held = {
        place
        for chunk in read
        for place in range(chunk.first, chunk.first + len(pieces[chunk.id]))
    }
    assert expected is None or expected in held


def test_one_chunk_is_read_if_the_steps_are_ordered():
    chunks = [ChunkSteps(n, n * 10, n * 10.0, n * 10.0 + 9) for n in range(1_000)]

    for step in (0, 5, 9, 10, 5_003, 1e9):
        assert len(chunks_to_read(chunks, step)) == 1
    assert chunks_to_read(chunks, -1) == []


def test_few_chunks_are_read_if_the_steps_are_unordered():
    chunks = [ChunkSteps(n, n, float(n), 1e6) for n in range(1_000)]

    assert len(chunks_to_read(chunks, 5_000)) == MAX_WITHIN
