from __future__ import annotations

import struct
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tracker.series.examples import any_points, noise, points, same
from tracker.series.codec import (
    CHUNK_POINTS,
    Columns,
    Damaged,
    decode,
    decode_overview,
    decode_ticks,
    decode_ticks_overview,
    encode,
    encode_overview,
    encode_ticks,
    encode_ticks_overview,
    row_checksums,
)
from tracker.series.downsample import (
    Buckets,
    bucket_starts,
    concatenate,
    summarize,
    summarize_rows,
    summarize_ticks,
)
from tracker.series.points import Points

GOLDEN = Path(__file__).parent / "golden"
GOLDEN_ROW = 528_568_260


def golden_points() -> Points:
    """Return the content of the golden chunk, with values that are easily lost."""
    values = [0.1, -0.0, np.inf, -np.inf, 5e-324, 2.0**53 + 2, np.nan]
    payload = np.array([0x7FF8_DEAD_BEEF_0001], np.uint64).view(np.float64)
    steps = [0, 0.5, 0.5, -1, 2, 1e9, 3, 4]
    times = [5, 4, 3, -2, 1, 0, 2**60, -(2**60)]
    return points(np.r_[values, payload], steps=steps, times=times)


def with_checksum(data: bytes) -> bytes:
    return data[:4] + struct.pack("<I", zlib.crc32(data[8:])) + data[8:]


def stored(some: Points) -> Points:
    """Return points after encoding and decoding a chunk and its ticks."""
    ticks = decode_ticks(encode_ticks(some.steps, some.times))
    return decode(encode(some.values), ticks)


some_points = any_points().filter(len)


@given(some_points)
@example(points([1.0]))
def test_points_come_back_bit_by_bit(some):
    assert same(stored(some), some)


def test_a_full_chunk_comes_back():
    some = points(noise(CHUNK_POINTS))

    assert same(stored(some), some)


def test_a_chunk_of_version_1_decodes_for_ever():
    data = (GOLDEN / "chunk-v1.bin").read_bytes()

    assert same(decode(data, None), golden_points())


def test_a_chunk_of_version_2_decodes_for_ever():
    ticks = decode_ticks((GOLDEN / "ticks-v1.bin").read_bytes())

    found = decode((GOLDEN / "chunk-v2.bin").read_bytes(), ticks)

    assert same(found, golden_points())


def test_an_overview_of_version_1_decodes_for_ever():
    found = decode_overview((GOLDEN / "overview-v1.bin").read_bytes(), None)

    assert_same_buckets(found, summarize(golden_points(), size=3))


def test_an_overview_of_version_2_decodes_for_ever():
    ticks = decode_ticks_overview((GOLDEN / "ticks-overview-v1.bin").read_bytes())

    found = decode_overview((GOLDEN / "overview-v2.bin").read_bytes(), ticks)

    assert_same_buckets(found, summarize(golden_points(), size=3))


def test_an_overview_of_version_3_decodes_for_ever():
    ticks = decode_ticks_overview((GOLDEN / "ticks-overview-v1.bin").read_bytes())

    found = decode_overview((GOLDEN / "overview-v3.bin").read_bytes(), ticks)

    same_value = replace(golden_points(), values=np.full(len(golden_points()), 0.1))
    assert_same_buckets(found, summarize(same_value, size=3))


@given(any_points(steps=st.floats(allow_nan=False)).filter(len))
def test_drawing_buckets_come_back(some):
    starts = bucket_starts(len(some), size=7)
    shared = summarize_ticks(some.steps, some.times, starts)
    own = summarize_rows(some.values[np.newaxis], starts)

    found = decode_overview(
        encode_overview({name: rows[0] for name, rows in own.items()}, some.values),
        decode_ticks_overview(encode_ticks_overview(shared)),
    )

    assert_same_buckets(found, summarize(some, size=7))


@given(st.floats(width=64), st.integers(129, CHUNK_POINTS))
@example(-0.0, 300)
@example(sys.float_info.max, CHUNK_POINTS)
def test_drawing_buckets_of_a_constant_are_its_value(value, count):
    some = points(np.full(count, value))

    encoded, ticks = overview_of(some)

    assert len(encoded) == 16
    assert_same_buckets(decode_overview(encoded, ticks), summarize(some))


def test_zeros_of_both_signs_are_no_constant():
    encoded, ticks = overview_of(points(np.resize([0.0, -0.0], 300)))

    assert len(encoded) > 16
    assert decode_overview(encoded, ticks).finite_count.tolist() == [128, 128, 44]


@pytest.mark.parametrize("counts", [[], [0], [129], [128] * 129, [-1, 2], [2**62] * 4])
def test_a_constant_needs_ticks_that_a_chunk_can_have(counts):
    encoded, ticks = overview_of(points(np.full(300, 1.5)))
    counts = np.array(counts, np.int64)

    for wrong in (None, {**ticks, "count": counts}):
        with pytest.raises(Damaged, match="not those"):
            decode_overview(encoded, wrong)


def overview_of(some: Points) -> tuple[bytes, Columns]:
    """Encode drawing buckets; also return the columns that all series of the ticks share."""
    starts = bucket_starts(len(some))
    own = summarize_rows(some.values[np.newaxis], starts)
    columns = {name: rows[0] for name, rows in own.items()}
    shared = summarize_ticks(some.steps, some.times, starts)
    return encode_overview(columns, some.values), shared


def test_losses_that_came_from_float32_cost_little_more_than_float32():
    losses = noise(CHUNK_POINTS).astype(np.float32).astype(np.float64)

    assert len(encode(losses)) < 3.7 * CHUNK_POINTS


def test_a_constant_costs_nothing():
    assert len(encode(np.full(CHUNK_POINTS, 3e-4))) < 100


def test_percentages_cost_two_bytes():
    percentages = np.round(50 + 10 * noise(CHUNK_POINTS), 1)

    assert len(encode(percentages)) < 2 * CHUNK_POINTS


def test_values_and_ticks_of_different_lengths_do_not_belong_together():
    ticks = decode_ticks(encode_ticks(*ticks_of(points([1, 2]))))

    for wrong in (ticks, None):
        with pytest.raises(Damaged, match="not those"):
            decode(encode(noise(3)), wrong)


def ticks_of(some: Points) -> tuple[np.ndarray, np.ndarray]:
    return some.steps, some.times


@given(some_points, st.data())
def test_a_flipped_bit_is_noticed(some, data):
    for encoded, decoder in (
        (encode(some.values), lambda damaged: decode(damaged, ticks_of(some))),
        (encode_ticks(*ticks_of(some)), decode_ticks),
    ):
        damaged = bytearray(encoded)
        bit = data.draw(st.integers(0, 8 * len(damaged) - 1))
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(Damaged):
            decoder(bytes(damaged))


@given(st.binary(max_size=200))
def test_any_bytes_are_damaged_and_nothing_worse(data):
    for decoder in (decode_ticks, decode_ticks_overview):
        with pytest.raises(Damaged):
            decoder(data)
    for decoder in (decode, decode_overview):
        with pytest.raises(Damaged):
            decoder(data, None)


@given(some_points, st.data())
def test_wrong_bytes_under_a_right_checksum_never_crash(some, data):
    def wrong(encoded: bytes) -> bytes:
        damaged = bytearray(encoded)
        for _ in range(data.draw(st.integers(1, 4))):
            place = data.draw(st.integers(8, len(damaged) - 1))
            damaged[place] = data.draw(st.integers(0, 255))
        return with_checksum(bytes(damaged[: data.draw(st.integers(8, len(damaged)))]))

    try:
        ticks = decode_ticks(wrong(encode_ticks(*ticks_of(some))))
        assert len(ticks[0]) == len(ticks[1]) <= CHUNK_POINTS
    except Damaged:
        ticks = ticks_of(some)
    try:
        assert len(decode(wrong(encode(some.values)), ticks)) == len(ticks[0])
    except Damaged:
        return


def test_more_points_than_a_chunk_may_hold_are_refused():
    too_many = np.zeros(CHUNK_POINTS + 1)

    with pytest.raises(Damaged, match="may be"):
        decode(encode(too_many), None)
    with pytest.raises(Damaged, match="may be"):
        decode_ticks(encode_ticks(too_many, too_many.astype(np.int64)))


@pytest.mark.parametrize("cut", [0, 3, 7, 8, 11, -1])
def test_a_chunk_that_ends_early_is_damaged(cut):
    some = points([1, 2, 3])

    with pytest.raises(Damaged):
        decode(encode(some.values)[:cut], ticks_of(some))
    with pytest.raises(Damaged):
        decode_ticks(encode_ticks(*ticks_of(some))[:cut])


def test_left_over_bytes_are_damage():
    some = points([1, 2, 3])

    with pytest.raises(Damaged, match="left over"):
        decode_ticks(with_checksum(encode_ticks(*ticks_of(some)) + b"\0"))
    with pytest.raises(Damaged, match="left over"):
        decode(with_checksum(encode(noise(3)) + b"\0"), ticks_of(some))


@pytest.mark.parametrize("head", [b"SMC\x03", b"SMO\x01", b"\0\0\0\0"])
def test_an_unknown_magic_or_version_is_damage(head):
    with pytest.raises(Damaged, match="not known"):
        decode(head + encode(noise(1))[4:], None)


def assert_same_buckets(found: Buckets, expected: Buckets) -> None:
    for name in Buckets.__slots__:
        left, right = getattr(found, name), getattr(expected, name)
        assert left.dtype == right.dtype
        assert np.array_equal(left.view(np.uint64), right.view(np.uint64)), name


def some_row(**changes):
    row = {
        "count": 9_000,
        "finite_count": 8_998,
        "minimum": -3.5,
        "maximum": np.nan,
        "total": 12.25,
        "first_step": 0.0,
        "last_step": 8_999.0,
        "first_time": 1_767_355_200_000_000,
        "last_time": 1_767_355_209_000_000,
        **changes,
    }
    return Buckets(**{name: np.array([number]) for name, number in row.items()})


def test_the_checksum_of_a_row_is_the_same_for_ever():
    packed = struct.pack(
        "<qqdddddqq",
        *(9_000, 8_998, -3.5, np.nan, 12.25, 0.0, 8_999.0),
        *(1_767_355_200_000_000, 1_767_355_209_000_000),
    )

    (checksum,) = row_checksums(some_row()).tolist()

    assert checksum % 2**32 == zlib.crc32(packed) == GOLDEN_ROW


def test_rows_have_their_checksums_in_their_order():
    every = [some_row(count=number) for number in range(100)]

    together = row_checksums(concatenate(every)).tolist()

    assert together == [row_checksums(row)[0] for row in every]
    assert len(set(together)) == 100
    assert row_checksums(Buckets.empty()).tolist() == []
