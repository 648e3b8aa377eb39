from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracker.series.examples import any_points, finite_steps, points, same
from tests.tracker.series.test_codec import GOLDEN, golden_points, with_checksum
from tracker.series.codec import Damaged
from tracker.series.journal import decode, encode
from tracker.series.points import Points

batches = st.dictionaries(
    st.integers(1, 2**63 - 1), any_points(steps=finite_steps), max_size=5
)


@given(batches)
def test_points_of_many_series_come_back(columns):
    decoded = decode(encode(columns))

    expected = {key: some for key, some in columns.items() if len(some)}
    assert decoded.keys() == expected.keys()
    assert all(same(decoded[key], expected[key]) for key in expected)


def test_an_entry_of_version_1_decodes_for_ever():
    decoded = decode((GOLDEN / "journal-v1.bin").read_bytes())

    assert list(decoded) == [7, 2**40]
    assert same(decoded[7], golden_points())
    assert same(decoded[2**40], points([1, 2, 3]))


def test_a_series_without_points_is_left_out():
    assert decode(encode({1: Points.empty(), 2: points([1])})).keys() == {2}
    assert decode(encode({})) == {}


@pytest.mark.parametrize("step", [np.nan, np.inf, -np.inf])
def test_steps_that_have_no_order_are_refused(step):
    with pytest.raises(ValueError, match="finite"):
        encode({1: points([1], steps=[step])})


@given(batches, st.data())
def test_a_flipped_bit_is_noticed(columns, data):
    encoded = bytearray(encode(columns))
    bit = data.draw(st.integers(0, 8 * len(encoded) - 1))
    encoded[bit // 8] ^= 1 << bit % 8

    with pytest.raises(Damaged):
        decode(bytes(encoded))


@given(batches.filter(len), st.data())
def test_wrong_bytes_under_a_right_checksum_never_crash(columns, data):
    encoded = bytearray(encode(columns))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(8, len(encoded) - 1))
        encoded[place] = data.draw(st.integers(0, 255))

    try:
        decoded = decode(with_checksum(bytes(encoded)))
    except Damaged:
        return
    assert all(len(some) for some in decoded.values())


def test_an_entry_that_claims_too_many_points_is_damaged():
    body = struct.pack("<II", 1, 1_000_001)

    with pytest.raises(Damaged, match="1000001 points"):
        decode(b"SMJ\x01" + struct.pack("<I", zlib.crc32(body)) + body)
