"""Points to bytes and back; layout in docs/formats/series-chunk.md."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import fields

import numpy as np

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
from tracker.series.downsample import Buckets
from tracker.series.points import Points

__all__ = ["CHUNK_POINTS", "Damaged", "decode", "encode"]

# The most points one chunk holds.
CHUNK_POINTS = 8_192

MAGIC = b"SMC"
OVERVIEW_MAGIC = b"SMO"
VERSION = 1

_SEAL = struct.Struct("<3sBI")
_COUNT = struct.Struct("<I")
_LENGTH = struct.Struct("<I")

# The other columns of drawing buckets are floats.
_INTEGERS = {"count", "finite_count", "first_time", "last_time"}


def encode(points: Points) -> bytes:
    """Encode points, in the order they have."""
    return seal(MAGIC, VERSION, _COUNT.pack(len(points)) + encode_columns(points))


def decode(data: bytes | memoryview, *, at_most: int = CHUNK_POINTS) -> Points:
    """Decode points; raise Damaged for any bytes that `encode` did not make."""
    reader = Reader(unseal(MAGIC, VERSION, data))
    (count,) = reader.unpack(_COUNT)
    if count > at_most:
        raise Damaged(f"{count} points where at most {at_most} may be")
    points = decode_columns(reader, count)
    reader.finish()
    return points


def encode_overview(buckets: Buckets) -> bytes:
    """Encode a chunk's drawing buckets: all columns at once, for a chart reads many."""
    words = np.array(
        [getattr(buckets, field.name).view("<u8") for field in fields(Buckets)]
    )
    planes = words.view(np.uint8).reshape(len(words), len(buckets), 8)
    packed = compress(planes.transpose(0, 2, 1).tobytes())
    return seal(OVERVIEW_MAGIC, VERSION, _COUNT.pack(len(buckets)) + packed)


def decode_overview(data: bytes | memoryview) -> Buckets:
    """Decode drawing buckets; raise Damaged for bytes `encode_overview` did not make."""
    reader = Reader(unseal(OVERVIEW_MAGIC, VERSION, data))
    (count,) = reader.unpack(_COUNT)
    if count > CHUNK_POINTS:
        raise Damaged(f"{count} buckets of at most {CHUNK_POINTS} points")
    columns = fields(Buckets)
    unpacked = decompress(reader.rest(), len(columns) * 8 * count)
    planes = np.frombuffer(unpacked, np.uint8).reshape(len(columns), 8, count)
    words = np.ascontiguousarray(planes.transpose(0, 2, 1)).view("<u8")[..., 0]
    return Buckets(
        *(
            word.view(dtype_of(field.name))
            for field, word in zip(columns, words, strict=True)
        )
    )


def dtype_of(column: str) -> type[np.int64 | np.float64]:
    """Return what a column of drawing buckets holds."""
    return np.int64 if column in _INTEGERS else np.float64


def encode_columns(points: Points) -> bytes:
    if not len(points):
        return b""
    columns = (
        encode_floats(points.steps),
        encode_integers(points.times),
        encode_floats(points.values),
    )
    return b"".join(framed(columns))


def decode_columns(reader: Reader, count: int) -> Points:
    if not count:
        return Points.empty()
    return Points(
        steps=decode_floats(take_framed(reader), count),
        times=decode_integers(take_framed(reader), count),
        values=decode_floats(take_framed(reader), count),
    )


def framed(columns: Sequence[bytes]) -> list[bytes]:
    """Put each column's length before it."""
    return [_LENGTH.pack(len(column)) + column for column in columns]


def take_framed(reader: Reader) -> memoryview:
    (length,) = reader.unpack(_LENGTH)
    return reader.take(length)


def seal(magic: bytes, version: int, body: bytes) -> bytes:
    """Put what the bytes are, and their checksum, before them."""
    return _SEAL.pack(magic, version, zlib.crc32(body)) + body


def unseal(magic: bytes, version: int, data: bytes | memoryview) -> memoryview:
    view = memoryview(data)
    reader = Reader(view)
    found_magic, found_version, checksum = reader.unpack(_SEAL)
    body = view[_SEAL.size :]
    if zlib.crc32(body) != checksum:
        raise Damaged("the checksum is wrong")
    if (found_magic, found_version) != (magic, version):
        raise Damaged(f"{found_magic!r} version {found_version} is not known here")
    return body
