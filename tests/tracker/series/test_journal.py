from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tracker.series.examples import (
    any_points,
    finite_steps,
    points,
    same,
    table,
)
from tests.tracker.series.test_codec import GOLDEN, golden_points, with_checksum
from tracker.series.codec import Damaged
from tracker.series.journal import decode, encode
from tracker.series.table import Table


def signaling_nan():
    return np.array([0x7FF0000000000001], np.uint64).view(np.float64)[0]


@st.composite
def any_tables(draw: st.DrawFn) -> list[Table]:
    tables = []
    for _ in range(draw(st.integers(0, 3))):
        ids = draw(st.lists(st.integers(1, 2**63 - 1), min_size=1, unique=True))
        some = draw(any_points(steps=finite_steps).filter(len))
        tables.append(table({key: np.roll(some.values, key % 7) for key in ids}, some))
    return tables


@given(any_tables())
def test_tables_come_back_bit_by_bit(tables):
    decoded = decode(encode(tables))

    assert len(decoded) == len(tables)
    for found, expected in zip(decoded, tables, strict=True):
        assert found.series_ids.tolist() == expected.series_ids.tolist()
        for row in range(len(expected.series_ids)):
            assert same(found.points_of(row), expected.points_of(row))


def test_an_entry_of_version_1_decodes_for_ever():
    decoded = decode((GOLDEN / "journal-v1.bin").read_bytes())

    assert [found.series_ids.tolist() for found in decoded] == [[7], [2**40]]
    assert same(decoded[0].points_of(0), golden_points())
    assert same(decoded[1].points_of(0), points([1, 2, 3]))


def test_an_entry_of_version_2_decodes_for_ever():
    first, second = decode((GOLDEN / "journal-v2.bin").read_bytes())

    assert [*first.series_ids, *second.series_ids] == [7, 8, 2**40]
    assert same(first.points_of(0), golden_points())
    backwards = golden_points().values[::-1]
    assert same(first.points_of(1), points(backwards, **ticks(golden_points())))
    assert same(second.points_of(0), points([1, 2, 3]))


def test_an_entry_of_version_3_decodes_for_ever():
    wide, narrow = decode((GOLDEN / "journal-v3.bin").read_bytes())

    assert [*wide.series_ids, *narrow.series_ids] == [7, 8, 2**40]
    assert same(wide.points_of(0), golden_points())
    assert same(
        wide.points_of(1),
        points(np.resize([0.1, 0.2, 0.3], 8), **ticks(golden_points())),
    )
    assert same(narrow.points_of(0), points([1, 2.5, np.nan]))


@pytest.mark.parametrize(
    ("values", "width"),
    [
        pytest.param([1.0, np.float32(0.1), np.nan, -0.0, np.inf], 4, id="float32"),
        pytest.param([1.0, 0.1], 8, id="a float64"),
        pytest.param([*np.ones(100), 1e300], 8, id="a late float64"),
        pytest.param([1.0, signaling_nan()], 8, id="a signaling NaN"),
        pytest.param([1.0, 1e-320], 8, id="subnormal"),
    ],
)
def test_values_from_float32_take_half_the_room(values, width):
    some = points(values)
    encoded = encode([table({1: some.values}, some)])

    assert len(encoded) == 8 + 8 + 12 + 8 + len(values) * (8 + 8 + width)
    assert same(decode(encoded)[0].points_of(0), some)


def ticks(some):
    return {"steps": some.steps, "times": some.times}


def test_a_table_without_points_is_left_out():
    empty = table({1: np.empty(0)}, points([]))

    assert len(decode(encode([empty, table({2: [1.0]}, points([1]))]))) == 1
    assert decode(encode([])) == []


@pytest.mark.parametrize("step", [np.nan, np.inf, -np.inf])
def test_steps_that_have_no_order_are_refused(step):
    with pytest.raises(ValueError, match="finite"):
        encode([table({1: [1.0]}, points([1], steps=[step]))])


@given(any_tables(), st.data())
def test_a_flipped_bit_is_noticed(tables, data):
    encoded = bytearray(encode(tables))
    # An empty entry has no content to compare.
    assume(decode(bytes(encoded)))
    bit = data.draw(st.integers(0, 8 * len(encoded) - 1))
    encoded[bit // 8] ^= 1 << bit % 8

    with pytest.raises(Damaged):
        decode(bytes(encoded))


@given(any_tables().filter(len), st.data())
def test_wrong_bytes_under_a_right_checksum_never_crash(tables, data):
    encoded = bytearray(encode(tables))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(8, len(encoded) - 1))
        encoded[place] = data.draw(st.integers(0, 255))

    try:
        decoded = decode(with_checksum(bytes(encoded)))
    except Damaged:
        return
    assert all(found.point_count for found in decoded)


@pytest.mark.parametrize(
    ("version", "body"),
    [
        pytest.param(1, struct.pack("<II", 1, 1_000_001), id="points of version 1"),
        pytest.param(2, struct.pack("<II", 2**32 - 1, 0), id="tables"),
        pytest.param(2, struct.pack("<IIII", 1, 0, 1_000, 1_001), id="points"),
        pytest.param(2, struct.pack("<IIII", 1, 0, 1, 0), id="no points"),
        pytest.param(3, struct.pack("<IIIII", 1, 0, 1, 1, 2), id="width"),
    ],
)
def test_an_entry_that_claims_what_cannot_be_is_damaged(version, body):
    message = r"1000001 points|tables|a table of|of 2 bytes"
    with pytest.raises(Damaged, match=message):
        decode(with_checksum(b"SMJ" + bytes([version]) + b"\0\0\0\0" + body))


def test_a_series_that_is_there_twice_is_damage():
    encoded = bytearray(encode([table({1: [1.0], 2: [1.0]}, points([1]))]))
    encoded[28:44] = struct.pack("<qq", 2, 2)

    with pytest.raises(Damaged, match="twice"):
        decode(with_checksum(bytes(encoded)))
