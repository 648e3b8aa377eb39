from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tracker.series.wire import (
    Columns,
    held,
    may_keep,
    narrow_exactly,
    narrow_places,
    narrow_summaries,
    pack_held,
    read_held,
)

floats = st.floats(width=64)
columns = arrays(np.float64, st.integers(0, 30), elements=floats)
single = arrays(np.float64, st.integers(0, 30), elements=st.floats(width=32))
anything = st.one_of(
    columns,
    arrays(np.float32, st.integers(0, 30)),
    arrays(np.int32, st.integers(0, 30)),
)


def unpacked(body):
    assert body[:4] == b"SMP\x01"
    start = 8 + int.from_bytes(body[4:8], "little")
    assert start % 8 == 0
    header = json.loads(body[8:start])
    found = []
    for dtype, offset, count in header["columns"]:
        assert offset % 8 == 0
        found.append(np.frombuffer(body, "<" + dtype, count, start + offset))
    return header, found


@given(st.lists(anything, max_size=6), st.text(max_size=20))
def test_every_array_comes_back_and_equal_ones_are_sent_once(wanted, text):
    sent = Columns()
    places = [sent.add(array) for array in wanted]

    header, found = unpacked(sent.pack({"text": text}))

    assert header["text"] == text
    for array, place in zip(wanted, places, strict=True):
        assert found[place].dtype.str == array.dtype.str
        assert found[place].tobytes() == array.tobytes()
    assert len(found) == len({(a.dtype.str, a.tobytes()) for a in wanted})


def test_big_endian_arrays_are_sent_little_endian():
    sent = Columns()
    sent.add(np.array([1.5, 2.5], ">f8"))

    assert unpacked(sent.pack({}))[1][0].tolist() == [1.5, 2.5]


@given(columns, st.integers(0, 30), st.integers(0, 30), columns)
def test_kept_points_equal_the_stored_ones(old, first, last, new):
    first = min(first, len(old))
    last = min(last, len(old) - first)
    note = held([old], first, last)

    grown = np.concatenate([old[:first], new, old[len(old) - last :]])

    assert may_keep([grown], note)
    assert read_held(pack_held([note, note])) == [note, note]


@given(columns, columns, st.data())
def test_nothing_is_kept_of_what_has_changed(old, new, data):
    first = data.draw(st.integers(0, len(old)))
    note = held([old], first)

    same = len(new) >= first and new[:first].tobytes() == old[:first].tobytes()
    assert may_keep([new], note) == same


def test_another_type_or_another_count_of_columns_is_another_content():
    numbers = np.zeros(4)
    note = held([numbers, numbers], 4)

    assert may_keep([numbers, numbers], note)
    assert not may_keep([numbers, numbers.astype("<i8")], note)
    assert not may_keep([numbers], note)
    assert not may_keep([numbers.reshape(2, 2), numbers], note)


@pytest.mark.parametrize("text", ["A", "AAAA", "%", "é", "=", " ", "A" * 21, "\0"])
def test_an_invalid_cursor_holds_nothing(text):
    assert read_held(text) == []


@given(columns)
def test_places_lose_nothing(x):
    assert narrow_places(x).astype(np.float64).tobytes() in (
        x.tobytes(),
        (x + 0.0).tobytes(),
    )


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        pytest.param([0, 1, 2], "<i4", id="steps"),
        pytest.param([-(2**31) + 1, 2**31 - 1], "<i4", id="widest"),
        pytest.param([2**31], "<f8", id="large"),
        pytest.param([0.5], "<f8", id="fractional"),
        pytest.param([1.7e12], "<f8", id="a moment"),
        pytest.param([], "<f8", id="none"),
    ],
)
def test_whole_places_take_half_the_bytes(x, dtype):
    assert narrow_places(np.array(x, np.float64)).dtype == dtype


@given(columns | single)
def test_exact_values_lose_nothing(values):
    back = narrow_exactly(values).astype(np.float64)

    assert ((back == values) | (np.isnan(back) & np.isnan(values))).all()


@given(single)
def test_values_of_half_the_bytes_are_sent_so(values):
    assert narrow_exactly(values).dtype == np.float32


@given(columns)
def test_rounding_hides_no_spike(values):
    mean, minimum, maximum = narrow_summaries(values, values, values)

    known = ~np.isnan(values)
    assert (np.isnan(minimum) == ~known).all()
    assert (minimum[known].astype(np.float64) <= values[known]).all()
    assert (maximum[known].astype(np.float64) >= values[known]).all()
    assert (minimum[known] <= mean[known]).all()
    assert (mean[known] <= maximum[known]).all()
    infinite = np.isinf(values)
    assert (minimum[infinite] == values[infinite]).all()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        pytest.param([0.1, 0.9], "<f4", id="a loss"),
        pytest.param([math.nan, math.inf], "<f4", id="no number"),
        pytest.param([1e6 + 0.001, 1e6 + 0.002], "<f8", id="narrow range"),
        pytest.param([1e39, 0], "<f8", id="huge"),
        pytest.param([1e-40, 0], "<f8", id="tiny"),
    ],
)
def test_summaries_are_halved_where_no_eye_can_tell(values, dtype):
    column = np.array(values)

    assert {a.dtype.str for a in narrow_summaries(column, column, column)} == {dtype}
