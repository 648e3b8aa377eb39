from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tracker.series.examples import any_points, noise, points, same
from tracker.series.codec import (
    CHUNK_POINTS,
    Damaged,
    decode,
    decode_overview,
    encode,
    encode_overview,
)
from tracker.series.downsample import Buckets, summarise
from tracker.series.points import Points

GOLDEN = Path(__file__).parent / "golden"


def golden_points() -> Points:
    """What the golden chunk holds: each value that is easily lost."""
    values = [0.1, -0.0, np.inf, -np.inf, 5e-324, 2.0**53 + 2, np.nan]
    payload = np.array([0x7FF8_DEAD_BEEF_0001], np.uint64).view(np.float64)
    steps = [0, 0.5, 0.5, -1, 2, 1e9, 3, 4]
    times = [5, 4, 3, -2, 1, 0, 2**60, -(2**60)]
    return points(np.r_[values, payload], steps=steps, times=times)


def with_checksum(data: bytes) -> bytes:
    return data[:4] + struct.pack("<I", zlib.crc32(data[8:])) + data[8:]


@given(any_points())
@example(Points.empty())
@example(points([1.0]))
def test_points_come_back_bit_by_bit(some):
    assert same(decode(encode(some)), some)


def test_a_full_chunk_comes_back():
    some = points(noise(CHUNK_POINTS))

    assert same(decode(encode(some)), some)


def test_a_chunk_of_version_1_decodes_for_ever():
    assert same(decode((GOLDEN / "chunk-v1.bin").read_bytes()), golden_points())


def test_an_overview_of_version_1_decodes_for_ever():
    found = decode_overview((GOLDEN / "overview-v1.bin").read_bytes())

    assert_same_buckets(found, summarise(golden_points(), size=3))


@given(any_points(steps=st.floats(allow_nan=False)))
def test_drawing_buckets_come_back(some):
    buckets = summarise(some, size=7)

    assert_same_buckets(decode_overview(encode_overview(buckets)), buckets)


def test_losses_that_came_from_float32_cost_little_more_than_float32():
    losses = noise(CHUNK_POINTS).astype(np.float32).astype(np.float64)

    assert len(encode(points(losses))) < 3.7 * CHUNK_POINTS


def test_a_constant_costs_nothing():
    assert len(encode(points(np.full(CHUNK_POINTS, 3e-4)))) < 100


def test_percentages_cost_two_bytes():
    percentages = np.round(50 + 10 * noise(CHUNK_POINTS), 1)

    assert len(encode(points(percentages))) < 2 * CHUNK_POINTS


@given(any_points(), st.data())
def test_a_flipped_bit_is_noticed(some, data):
    encoded = bytearray(encode(some))
    bit = data.draw(st.integers(0, 8 * len(encoded) - 1))
    encoded[bit // 8] ^= 1 << bit % 8

    with pytest.raises(Damaged):
        decode(bytes(encoded))


@given(st.binary(max_size=200))
def test_any_bytes_are_damaged_and_nothing_worse(data):
    with pytest.raises(Damaged):
        decode(data)
    with pytest.raises(Damaged):
        decode_overview(data)


@given(any_points(), st.data())
def test_wrong_bytes_under_a_right_checksum_never_crash(some, data):
    encoded = bytearray(encode(some))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(8, len(encoded) - 1))
        encoded[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(8, len(encoded)))

    try:
        found = decode(with_checksum(bytes(encoded[:cut])))
    except Damaged:
        return
    assert len(found) <= CHUNK_POINTS


def test_more_points_than_a_chunk_may_hold_are_refused():
    too_many = encode(points(np.zeros(CHUNK_POINTS + 1)))

    with pytest.raises(Damaged, match="at most"):
        decode(too_many)


@pytest.mark.parametrize("cut", [0, 3, 7, 8, 11, -1])
def test_a_chunk_that_ends_early_is_damaged(cut):
    with pytest.raises(Damaged):
        decode(encode(points([1, 2, 3]))[:cut])


def test_left_over_bytes_are_damage():
    data = encode(points([1, 2, 3])) + b"\0"

    with pytest.raises(Damaged, match="left over"):
        decode(with_checksum(data))


@pytest.mark.parametrize("head", [b"SMC\x02", b"SMO\x01", b"\0\0\0\0"])
def test_an_unknown_magic_or_version_is_damage(head):
    with pytest.raises(Damaged, match="not known"):
        decode(head + encode(points([1]))[4:])


def assert_same_buckets(found: Buckets, expected: Buckets) -> None:
    for name in Buckets.__slots__:
        left, right = getattr(found, name), getattr(expected, name)
        assert left.dtype == right.dtype
        assert np.array_equal(left.view(np.uint64), right.view(np.uint64)), name
