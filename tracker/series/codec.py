"""Encodes and decodes chunks and their ticks; format in docs/formats/series-chunk.md."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Container, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.series.columns import (
    Damaged,
    Reader,
    compress,
    decode_floats,
    decode_integers,
    decompress,
    encode_floats,
    encode_integers,
)
from tracker.series.downsample import BUCKET_POINTS, Buckets, summarize_rows
from tracker.series.points import Floats, Integers, Points

# A chunk with this many points is full and never extended.
FULL_POINTS = 8_192
# Maximum number of points per chunk. Any larger number can be split into full chunks,
# so that no remainder has to be rewritten.
CHUNK_POINTS = 2 * FULL_POINTS

MAGIC = b"SMC"
OVERVIEW_MAGIC = b"SMO"
TICKS_MAGIC = b"SMT"
TICKS_OVERVIEW_MAGIC = b"SMU"
VERSION = 2
# An overview of one value, which all points of the chunk have.
CONSTANT_VERSION = 3
TICKS_VERSION = 1

_SEAL = struct.Struct("<3sBI")
_COUNT = struct.Struct("<I")
_VALUE = np.dtype("<f8")
_LENGTH = struct.Struct("<I")

# The columns of drawing buckets that all series of the same ticks share.
TICK_COLUMNS = ("count", "first_step", "last_step", "first_time", "last_time")
VALUE_COLUMNS = ("finite_count", "minimum", "maximum", "total")
# The other columns of drawing buckets are floats.
_INTEGERS = {"count", "finite_count", "first_time", "last_time"}

# Columns of numbers, all of one length.
Columns = Mapping[str, NDArray[Any]]


def encode_ticks(steps: Floats, times: Integers) -> bytes:
    """Encode at least one tick of chunks, in order."""
    columns = framed([encode_floats(steps), encode_integers(times)])
    return seal(TICKS_MAGIC, TICKS_VERSION, _COUNT.pack(len(steps)) + b"".join(columns))


def decode_ticks(data: bytes | memoryview) -> tuple[Floats, Integers]:
    """Decode steps and times; raise Damaged for bytes not from `encode_ticks`."""
    _, body = unseal(TICKS_MAGIC, (TICKS_VERSION,), data)
    reader = Reader(body)
    count = _count(reader, least=1)
    steps = decode_floats(take_framed(reader), count)
    times = decode_integers(take_framed(reader), count)
    reader.finish()
    return steps, times


def encode(values: Floats) -> bytes:
    """Encode at least one value of a chunk."""
    return seal(MAGIC, VERSION, _COUNT.pack(len(values)) + encode_floats(values))


def decode(data: bytes | memoryview, ticks: tuple[Floats, Integers] | None) -> Points:
    """Decode points; raise Damaged for bytes not from `encode`.

    A chunk of the first version contains its own ticks.
    """
    version, body = unseal(MAGIC, (1, VERSION), data)
    reader = Reader(body)
    count = _count(reader, least=version - 1)
    if version == 1:
        points = decode_columns(reader, count)
        reader.finish()
        return points
    if ticks is None or len(ticks[0]) != count:
        raise Damaged("the ticks are not those of the values")
    return Points(*ticks, decode_floats(reader.rest(), count))


def encode_overview(columns: Columns, values: Floats) -> bytes:
    """Encode VALUE_COLUMNS of the drawing buckets of a chunk with these values."""
    words = values.view(np.uint64)
    if (words == words[0]).all():
        one = columns["minimum"][:1].astype(_VALUE)
        return seal(OVERVIEW_MAGIC, CONSTANT_VERSION, one.tobytes())
    body = _encode_columns([columns[name] for name in VALUE_COLUMNS])
    return seal(OVERVIEW_MAGIC, VERSION, body)


def encode_whole_overview(buckets: Buckets) -> bytes:
    """Encode all columns of drawing buckets, for chunks without shared ticks."""
    body = _encode_columns([getattr(buckets, name) for name in _names(Buckets)])
    return seal(OVERVIEW_MAGIC, 1, body)


def encode_ticks_overview(columns: Columns) -> bytes:
    """Encode TICK_COLUMNS of the drawing buckets of chunks that share their ticks."""
    body = _encode_columns([columns[name] for name in TICK_COLUMNS])
    return seal(TICKS_OVERVIEW_MAGIC, TICKS_VERSION, body)


def decode_ticks_overview(data: bytes | memoryview) -> Columns:
    """Decode TICK_COLUMNS; raise Damaged for other bytes."""
    _, body = unseal(TICKS_OVERVIEW_MAGIC, (TICKS_VERSION,), data)
    return _decode_columns(body, TICK_COLUMNS)


def decode_overview(data: bytes | memoryview, ticks: Columns | None) -> Buckets:
    """Decode drawing buckets; raise Damaged for bytes not from `encode_overview`."""
    version, body = unseal(OVERVIEW_MAGIC, (1, VERSION, CONSTANT_VERSION), data)
    if version == 1:
        return Buckets(**_decode_columns(body, _names(Buckets)))
    if version == CONSTANT_VERSION:
        return _constant_buckets(body, ticks)
    columns = _decode_columns(body, VALUE_COLUMNS)
    if ticks is None or len(ticks["count"]) != len(columns["minimum"]):
        raise Damaged("the ticks are not those of the values")
    return Buckets(**columns, **ticks)


def _constant_buckets(body: memoryview, ticks: Columns | None) -> Buckets:
    """Return the drawing buckets of a chunk whose points all have one value."""
    if len(body) != _VALUE.itemsize:
        raise Damaged("there is not one value")
    if ticks is None or not _are_lengths(ticks["count"]):
        raise Damaged("the ticks are not those of the values")
    counts = ticks["count"]
    starts = np.r_[0, np.cumsum(counts)[:-1]]
    value = np.frombuffer(body, _VALUE).astype(np.float64)
    own = summarize_rows(np.full((1, counts.sum()), value), starts)
    return Buckets(**{name: rows[0] for name, rows in own.items()}, **ticks)


def _are_lengths(counts: NDArray[Any]) -> bool:
    """Return whether these can be the point counts of a chunk's drawing buckets."""
    # Each count before the sum, which could overflow.
    each = len(counts) and ((counts > 0) & (counts <= BUCKET_POINTS)).all()
    return bool(each and counts.sum() <= CHUNK_POINTS)


def row_checksums(rows: Buckets) -> NDArray[np.int32]:
    """Return a checksum of each row (n,): CRC-32 of its numbers, read as signed."""
    names = _names(Buckets)
    words = np.empty((len(rows), len(names)), "<u8")
    for place, name in enumerate(names):
        words[:, place] = getattr(rows, name).view("<u8")
    packed = words.view(f"V{words.itemsize * len(names)}")[:, 0].tolist()
    return np.fromiter(map(zlib.crc32, packed), np.uint32, len(rows)).view(np.int32)


def _names(of: type[Buckets]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(of))


def _encode_columns(columns: Sequence[NDArray[Any]]) -> bytes:
    """Encode all columns at once, because a chart reads many."""
    words = np.array([column.view("<u8") for column in columns])
    count = words.shape[1]
    planes = words.view(np.uint8).reshape(len(words), count, 8)
    return _COUNT.pack(count) + compress(planes.transpose(0, 2, 1).tobytes())


def _decode_columns(body: memoryview, names: Sequence[str]) -> Columns:
    reader = Reader(body)
    count = _count(reader)
    unpacked = decompress(reader.rest(), len(names) * 8 * count)
    planes = np.frombuffer(unpacked, np.uint8).reshape(len(names), 8, count)
    words = np.ascontiguousarray(planes.transpose(0, 2, 1))
    integers, floats = words.view("<i8")[..., 0], words.view("<f8")[..., 0]
    return {
        name: (integers if name in _INTEGERS else floats)[place]
        for place, name in enumerate(names)
    }


def _count(reader: Reader, least: int = 0) -> int:
    count: int = reader.unpack(_COUNT)[0]
    if not least <= count <= CHUNK_POINTS:
        raise Damaged(f"{count} points where {least} to {CHUNK_POINTS} may be")
    return count


def dtype_of(column: str) -> type[np.int64 | np.float64]:
    """Return the dtype of a column of drawing buckets."""
    return np.int64 if column in _INTEGERS else np.float64


def decode_columns(reader: Reader, count: int) -> Points:
    if not count:
        return Points.empty()
    return Points(
        steps=decode_floats(take_framed(reader), count),
        times=decode_integers(take_framed(reader), count),
        values=decode_floats(take_framed(reader), count),
    )


def framed(columns: Sequence[bytes]) -> list[bytes]:
    """Prefix each column with its length."""
    return [_LENGTH.pack(len(column)) + column for column in columns]


def take_framed(reader: Reader) -> memoryview:
    (length,) = reader.unpack(_LENGTH)
    return reader.take(length)


def seal(magic: bytes, version: int, *body: bytes | memoryview) -> bytes:
    """Join the parts, prefixed with magic, version and checksum."""
    checksum = 0
    for part in body:
        checksum = zlib.crc32(part, checksum)
    return b"".join((_SEAL.pack(magic, version, checksum), *body))


def unseal(
    magic: bytes, versions: Container[int], data: bytes | memoryview
) -> tuple[int, memoryview]:
    """Return the version and the sealed bytes; raise Damaged for a broken seal."""
    view = memoryview(data)
    if len(view) < _SEAL.size:
        raise Damaged("bytes end too early")
    found_magic, version, checksum = _SEAL.unpack_from(view)
    body = view[_SEAL.size :]
    if zlib.crc32(body) != checksum:
        raise Damaged("the checksum is wrong")
    if found_magic != magic or version not in versions:
        raise Damaged(f"{found_magic!r} version {version} is not known here")
    return version, body
