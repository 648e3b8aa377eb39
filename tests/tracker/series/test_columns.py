from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.series.examples import noise, number_lists
from tracker.series.columns import (
    Coding,
    Damaged,
    compress,
    decode_floats,
    decode_integers,
    decompress,
    encode_floats,
    encode_integers,
)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=60))
def test_integers_come_back(numbers):
    column = np.array(numbers, np.int64)

    decoded = decode_integers(memoryview(encode_integers(column)), len(column))

    assert decoded.tolist() == numbers


@given(number_lists.filter(len))
def test_every_bit_of_a_float_comes_back(numbers):
    column = np.array(numbers, np.float64)

    decoded = decode_floats(memoryview(encode_floats(column)), len(column))

    assert np.array_equal(decoded.view(np.uint64), column.view(np.uint64))


@pytest.mark.parametrize(
    ("numbers", "coding"),
    [
        pytest.param(np.full(99, np.nan), Coding.CONSTANT, id="constant NaN"),
        pytest.param(np.arange(99.0), Coding.DECIMAL, id="whole numbers"),
        pytest.param(np.arange(99) / 10, Coding.DECIMAL, id="tenths"),
        pytest.param(noise(99).astype("f4").astype("f8"), Coding.FLOAT32, id="float32"),
        pytest.param(noise(99), Coding.FLOAT64, id="all bits used"),
        pytest.param(np.array([1.0, -0.0]), Coding.FLOAT32, id="negative zero"),
        pytest.param(np.array([1e300, 1.0]), Coding.FLOAT64, id="beyond float32"),
        pytest.param(np.array([5e-324, 1.0]), Coding.FLOAT64, id="subnormal"),
    ],
)
def test_chooses_how_to_write_floats(numbers, coding):
    encoded = encode_floats(numbers)

    assert encoded[0] == coding
    decoded = decode_floats(memoryview(encoded), len(numbers))
    assert np.array_equal(decoded.view(np.uint64), numbers.view(np.uint64))


def test_a_nan_whose_payload_float32_cannot_hold_is_kept_in_full():
    quiet = np.array([0x7FF8_0000_0000_0001, 0x7FF0_0000_0000_0001], np.uint64)

    encoded = encode_floats(quiet.view(np.float64))

    assert encoded[0] == Coding.FLOAT64
    assert decode_floats(memoryview(encoded), 2).view(np.uint64).tolist() == (
        quiet.tolist()
    )


@pytest.mark.parametrize(
    ("numbers", "coding"),
    [
        pytest.param([7], Coding.RAMP, id="one"),
        pytest.param([3, 5, 7], Coding.RAMP, id="evenly spaced"),
        pytest.param([5, 9, 4], Coding.OFFSETS, id="to and fro"),
        pytest.param([10**15, 10**15 + 10, 10**15 + 21], Coding.DELTAS, id="growing"),
    ],
)
def test_chooses_how_to_write_integers(numbers, coding):
    assert encode_integers(np.array(numbers, np.int64))[0] == coding


def test_evenly_spaced_numbers_take_a_few_bytes():
    assert len(encode_integers(np.arange(8_192, dtype=np.int64))) < 20
    assert len(encode_floats(np.full(8_192, 0.1))) < 20


def test_makes_no_room_for_what_a_compressed_frame_claims():
    frame = compress(bytes(100_000_000))

    with pytest.raises(Damaged):
        decompress(frame, 8_192)
