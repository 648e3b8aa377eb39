from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.records.examples import records, same
from tracker.records import codec
from tracker.records.record import one_after_the_other, pieces
from tracker.series.columns import Damaged


@given(st.lists(st.binary(max_size=50), min_size=1, max_size=30), st.integers(0, 2**32))
def test_every_record_comes_back(values, seed):
    chance = np.random.default_rng(seed)
    steps = chance.choice([0.0, -1.5, 3.0, 2.0**53, 1e-300], len(values))
    times = chance.integers(0, 2**55, len(values))
    expected = records(values, steps=steps, times=times)

    for is_dense in (False, True):
        assert same(codec.decode(codec.encode(expected, is_dense=is_dense)), expected)


def test_a_changed_byte_is_found():
    data = bytearray(codec.encode(records([b"one", b"two"])))
    for place in range(len(data)):
        changed = bytes([*data[:place], data[place] ^ 1, *data[place + 1 :]])
        with pytest.raises(Damaged):
            codec.decode(changed)


def test_pieces_are_bounded_and_lose_nothing():
    whole = records([b"x" * size for size in [10, 0, 0, 99, 5, 5, 5, 40, 1]])

    parts = list(pieces(whole, most=3, most_bytes=50))

    assert same(one_after_the_other(parts), whole)
    assert all(len(part) <= 3 for part in parts)
    assert [len(part.values) for part in parts if len(part.values) > 50] == [99]


def test_a_log_takes_few_bytes():
    lines = [
        f"2026-01-02 12:{n // 60 % 60:02}:{n % 60:02},{n * 37 % 1000:03} INFO step {n}"
        f" loss {2 / (1 + n / 100):.4f} lr 3.0e-04 {900 + n * 7 % 90} samples/s"
        for n in range(codec.CHUNK_RECORDS // 2)
    ]
    whole = records([line.encode() for line in lines])

    assert len(codec.encode(whole, is_dense=True)) < len(whole.values) / 5
