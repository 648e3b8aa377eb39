"""Encodes and decodes a batch's tables; format in docs/formats/journal-entry.md (pure).

Numbers are stored uncompressed, as float32 where lossless: an entry lives for seconds,
and compressing it would dominate the agent's waiting time.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.series.codec import decode_columns, seal, take_framed, unseal
from tracker.series.columns import Damaged, Reader, decode_integers, narrowed
from tracker.series.points import Floats
from tracker.series.table import Table

# Maximum number of points, and of series, per entry, as in a batch.
ENTRY_POINTS = 1_000_000

MAGIC = b"SMJ"
VERSION = 3

_COUNTS = struct.Struct("<II")
_WIDTH = struct.Struct("<I")
# The type of values by size in bytes.
VALUES = {4: "<f4", 8: "<f8"}


def encode(tables: Sequence[Table]) -> bytes:
    """Encode tables; steps must be finite, because the store orders by them."""
    tables = [table for table in tables if table.point_count]
    parts: list[bytes | memoryview] = [_COUNTS.pack(len(tables), 0)]
    for table in tables:
        if not np.isfinite(table.steps).all():
            raise ValueError("steps must be finite")
        narrow = narrowed(table.values)
        values = table.values if narrow is None else narrow
        parts += [
            _COUNTS.pack(len(table.series_ids), len(table.steps)),
            _WIDTH.pack(values.itemsize),
            _bytes_of(table.series_ids, "<i8"),
            _bytes_of(table.steps, "<f8"),
            _bytes_of(table.times, "<i8"),
            _bytes_of(values, VALUES[values.itemsize]),
        ]
    return seal(MAGIC, VERSION, *parts)


# Any: the caller knows the dtype.
def _bytes_of(numbers: NDArray[Any], dtype: str) -> memoryview:
    return np.ascontiguousarray(numbers, dtype).data


def decode(data: bytes | memoryview) -> list[Table]:
    """Decode tables; raise Damaged for bytes not from `encode`."""
    version, body = unseal(MAGIC, range(1, VERSION + 1), data)
    reader = Reader(body)
    if version == 1:
        tables = _decode_first_version(reader)
    else:
        tables = _decode_tables(reader, has_width=version > 2)  # noqa: PLR2004
    reader.finish()
    if not all(np.isfinite(table.steps).all() for table in tables):
        raise Damaged("steps are not finite")
    return tables


def _decode_tables(reader: Reader, *, has_width: bool) -> list[Table]:
    table_count, reserved = reader.unpack(_COUNTS)
    if table_count > ENTRY_POINTS or reserved:
        raise Damaged(f"{table_count} tables, and {reserved} where 0 should be")
    return [_decode_table(reader, has_width=has_width) for _ in range(table_count)]


def _decode_table(reader: Reader, *, has_width: bool) -> Table:
    series, ticks = reader.unpack(_COUNTS)
    if not 1 <= series * ticks <= ENTRY_POINTS:
        raise Damaged(f"a table of {series} series and {ticks} ticks")
    (width,) = reader.unpack(_WIDTH) if has_width else (8,)
    if width not in VALUES:
        raise Damaged(f"values of {width} bytes")
    table = Table(
        _take(reader, "<i8", series),
        _take(reader, "<f8", ticks),
        _take(reader, "<i8", ticks),
        _widened(_take(reader, VALUES[width], series * ticks)).reshape(series, ticks),
    )
    _expect_each_once(table.series_ids)
    return table


# Any: the caller knows the dtype.
def _take(reader: Reader, dtype: str, count: int) -> NDArray[Any]:
    return np.frombuffer(reader.take(count * np.dtype(dtype).itemsize), dtype)


def _widened(values: NDArray[np.float32] | Floats) -> Floats:
    with np.errstate(all="ignore"):
        return values.astype(np.float64, copy=False)


def _decode_first_version(reader: Reader) -> list[Table]:
    """Decode the points of one series after another, all in one column."""
    series_count, count = reader.unpack(_COUNTS)
    # Series without points are omitted, so there are no more series than points.
    if count > ENTRY_POINTS or series_count > count:
        raise Damaged(f"{count} points of {series_count} series")
    if not series_count:
        return []

    ids = decode_integers(take_framed(reader), series_count)
    lengths = decode_integers(take_framed(reader), series_count)
    if lengths.min() < 1 or lengths.max() > count or lengths.sum() != count:
        raise Damaged("the series are not as long as all points")
    _expect_each_once(ids)
    points = decode_columns(reader, count)
    ends = np.cumsum(lengths)
    parts = [
        points[end - length : end] for length, end in zip(lengths, ends, strict=True)
    ]
    return [
        Table(ids[place : place + 1], part.steps, part.times, part.values[np.newaxis])
        for place, part in enumerate(parts)
    ]


def _expect_each_once(series_ids: NDArray[np.int64]) -> None:
    if len(np.unique(series_ids)) != len(series_ids):
        raise Damaged("a series is there twice")
