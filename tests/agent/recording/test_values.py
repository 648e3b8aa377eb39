"""Conversion of single values."""

from __future__ import annotations

import contextlib
import functools
import io
import math
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum
from pathlib import Path

import numpy as np
import pytest

from seamark.errors import UnsupportedValue
from seamark.recording.values import to_microseconds, to_step, to_value


class Number(IntEnum):
    C = 3


class Text(str, Enum):
    L = "linear"


class Hiding(str):
    __slots__ = ()

    def __str__(self):
        raise RuntimeError("no")


class Colour(Enum):
    RED = 1
    GREEN = (0, 1)
    BLUE = object()


class Access(Flag):
    READ = 1
    WRITE = 2


@dataclass
class Pair:
    x: int
    y: list[int]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Number.C, 3),
        (Text.L, "linear"),
        (Colour.RED, 1),
        (Colour.GREEN, "[0, 1]"),
        pytest.param(Colour.BLUE, "BLUE", id="member without a value"),
        (Access.READ | Access.WRITE, 3),
        (None, None),
        ([Colour.RED, Number.C, Text.L, None, True], '[1, 3, "linear", null, true]'),
        pytest.param({Text.L, Colour.RED}, frozenset({"linear", "1"}), id="set"),
        ((1, 2), "[1, 2]"),
        (
            ["é", {"a": (1.5, Path("b"))}, Pair(1, [2])],
            '["é", {"a": [1.5, "b"]}, {"x": 1, "y": [2]}]',
        ),
        (Hiding("text"), "text"),
        (io.StringIO, "<class '_io.StringIO'>"),
        (2**63 - 1, 2**63 - 1),
        (2**63, "9223372036854775808"),
        (-(2**63) - 1, "-9223372036854775809"),
        (np.uint64(2**64 - 1), "18446744073709551615"),
        (Decimal("0.5"), 0.5),
        (Decimal("1e400"), "1E+400"),
        (Decimal("Infinity"), math.inf),
        ([np.float64(0.1), (np.int64(2), None)], "[0.1, [2, null]]"),
        ([np.zeros(2)], "[[0.0, 0.0]]"),
        ([math.nan, -math.inf], "[NaN, -Infinity]"),
        (b"plain", "b'plain'"),
        (1j, "1j"),
        (Path("a/b"), "a/b"),
        (math.sqrt, "<built-in function sqrt>"),
    ],
    ids=ascii,
)
def test_a_value_is_stored_as_what_it_says(value, expected):
    assert to_value(value) == expected
    assert type(to_value(value)) is type(expected)


def test_a_list_that_contains_itself_is_refused():
    endless = [1]
    endless.append(endless)

    with pytest.raises(UnsupportedValue, match="nested deeper than 16 levels"):
        to_value(endless)


@pytest.mark.parametrize("value", ["a\0b", {"a\0"}, ["a", b"\0".decode()]], ids=ascii)
def test_text_with_a_nul_is_refused(value):
    if isinstance(value, list):
        # JSON writes it as an escape.
        assert to_value(value) == '["a", "\\u0000"]'
        return
    with pytest.raises(UnsupportedValue, match="NUL character"):
        to_value(value)


def test_a_list_that_contains_itself_many_times_takes_no_time():
    endless = []
    endless.extend([endless] * 100)
    began = time.monotonic()

    # As many as its elements' elements' elements … would take for ever.
    with contextlib.suppress(UnsupportedValue):
        to_value(endless)
    assert time.monotonic() < began + 10


def test_of_a_list_that_is_too_long_no_text_is_made():
    class Loud(int):
        def __repr__(self):
            raise AssertionError

    with pytest.raises(UnsupportedValue, match="more than 20,000 elements"):
        to_value([Loud(1)] * 30_000)
    assert to_value([1] * 20_000) == str([1] * 20_000)


def relu(x):
    return x


@pytest.mark.parametrize("value", [relu, functools.partial(relu, 1), (x for x in ())])
def test_where_something_lies_in_memory_is_not_stored(value):
    assert " at 0x" in repr(value)
    assert "0x" not in to_value(value)
    assert len(to_value(value)) > 10


@pytest.mark.parametrize(
    "value",
    [
        b"\x89PNG",
        b"a\0",
        bytearray(b"\x89"),
        memoryview(b"x"),
        io.BytesIO(b"x"),
        io.StringIO("x"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_only_a_file_can_hold_is_refused_with_what_to_do(value):
    with pytest.raises(UnsupportedValue, match="upload it"):
        to_value(value)


NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
NOON_MICROSECONDS = 1_772_366_400_000_000


@pytest.mark.parametrize(
    "time",
    [
        NOON,
        NOON.astimezone(timezone(timedelta(hours=5))),
        NOON.timestamp(),
        np.float64(NOON.timestamp()),
        np.datetime64("2026-03-01T12:00"),
        np.datetime64("2026-03-01T12:00:00.000000000"),
    ],
    ids=lambda time: f"{type(time).__name__} {time}",
)
def test_a_time_is_microseconds_since_1970(time):
    assert to_microseconds(time) == NOON_MICROSECONDS


@pytest.mark.parametrize(
    "time",
    ["noon", math.nan, -1.0, 1e20, np.datetime64("NaT"), np.timedelta64(1, "s"), None],
    ids=str,
)
def test_what_is_no_time_is_called_no_time(time):
    with pytest.raises(UnsupportedValue, match="is not a time from 1970 to 9999"):
        to_microseconds(time)


@pytest.mark.parametrize("step", ["five", None, [1], math.nan, math.inf, b"1"], ids=str)
def test_what_is_no_step_is_called_no_step(step):
    with pytest.raises(UnsupportedValue, match="is not a step"):
        to_step(step)
