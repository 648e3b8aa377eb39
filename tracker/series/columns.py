"""Encodes and decodes one column of numbers; format in docs/formats/series-chunk.md.

A column is stored in the smallest of a few encodings. All of them end in byte planes:
the first bytes of all numbers, then the second bytes, and so on, because bytes of one
position are similar and compress well.
"""

from __future__ import annotations

import struct
import threading
from enum import IntEnum
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from tracker.series.points import Floats, Integers

LEVEL = 3
# Maximum number of decimal places that are tried.
MAX_PLACES = 4
# Numbers of a column that are tried first, to rule out an encoding.
LOOKED_AT_FIRST = 32
# Up to here every integer is a float, and division by ten rounds correctly.
LARGEST_WHOLE = 2.0**53

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]


class Damaged(Exception):
    """Stored bytes are corrupt; none of them may be used."""


class Coding(IntEnum):
    CONSTANT = 0
    RAMP = 1
    OFFSETS = 2
    DELTAS = 3
    FLOAT64 = 4
    FLOAT32 = 5
    DECIMAL = 6


class PlaneCoding(IntEnum):
    CONSTANT = 0
    RAW = 1
    ZSTD = 2


class Reader:
    """Reads bytes from the front, never past the end."""

    def __init__(self, data: memoryview) -> None:
        self._data = data

    def take(self, length: int) -> memoryview:
        if length > len(self._data):
            raise Damaged("bytes end too early")
        taken, self._data = self._data[:length], self._data[length:]
        return taken

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        return layout.unpack(self.take(layout.size))

    def rest(self) -> memoryview:
        return self.take(len(self._data))

    def finish(self) -> None:
        if self._data:
            raise Damaged("bytes are left over")


class _Zstd(threading.local):
    """One per thread: they are expensive to create and not thread-safe."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_zstd = _Zstd()

_BYTE = struct.Struct("<B")
_WORD = struct.Struct("<Q")
_RAMP = struct.Struct("<qq")
_OFFSETS = struct.Struct("<qB")
_DELTAS = struct.Struct("<qqB")
_PLANE = struct.Struct("<BI")
# By width in bytes: the smallest word type.
_WORDS = (None, "<u1", "<u2", "<u4", "<u4", "<u8", "<u8", "<u8", "<u8")


def encode_integers(numbers: Integers) -> bytes:
    """Encode a column of at least one integer."""
    differences = np.diff(numbers)  # wraps around, as does adding them up
    least = int(differences.min()) if len(differences) else 0
    deltas = (differences - np.int64(least)).view(np.uint64)
    first, low = int(numbers[0]), int(numbers.min())
    if not deltas.any():
        return _BYTE.pack(Coding.RAMP) + _RAMP.pack(first, least)

    offsets = (numbers - np.int64(low)).view(np.uint64)
    if offsets.max() <= deltas.max():
        width = _width(offsets)
        head = _BYTE.pack(Coding.OFFSETS) + _OFFSETS.pack(low, width)
        return head + _encode_planes(offsets, width)
    width = _width(deltas)
    head = _BYTE.pack(Coding.DELTAS) + _DELTAS.pack(first, least, width)
    return head + _encode_planes(deltas, width)


def decode_integers(data: memoryview, count: int) -> Integers:
    reader = Reader(data)
    (coding,) = reader.unpack(_BYTE)
    if coding == Coding.RAMP:
        first, difference = reader.unpack(_RAMP)
        ramp = np.arange(count, dtype=np.int64) * np.int64(difference)
        numbers: Integers = ramp + np.int64(first)
    elif coding == Coding.OFFSETS:
        low, width = reader.unpack(_OFFSETS)
        numbers = _decode_planes(reader, count, width).astype(np.int64)
        numbers += np.int64(low)
    elif coding == Coding.DELTAS:
        first, least, width = reader.unpack(_DELTAS)
        numbers = np.empty(count, np.int64)
        numbers[0] = first
        numbers[1:] = _decode_planes(reader, count - 1, width).astype(np.int64)
        numbers[1:] += np.int64(least)
        np.cumsum(numbers, out=numbers)
    else:
        raise Damaged(f"unknown coding {coding} of integers")
    reader.finish()
    return numbers


def encode_floats(numbers: Floats) -> bytes:
    """Encode a column of at least one float, losslessly."""
    words = numbers.view(np.uint64)
    if not (words != words[0]).any():
        return _BYTE.pack(Coding.CONSTANT) + _WORD.pack(int(words[0]))

    ways = [_encode_decimal(numbers), _encode_float32(numbers)]
    found = [way for way in ways if way is not None]
    if not found:
        return _BYTE.pack(Coding.FLOAT64) + _encode_planes(words, 8)
    return min(found, key=len)


def decode_floats(data: memoryview, count: int) -> Floats:
    reader = Reader(data)
    (coding,) = reader.unpack(_BYTE)
    if coding == Coding.DECIMAL:
        (places,) = reader.unpack(_BYTE)
        if places > MAX_PLACES:
            raise Damaged(f"{places} decimal places")
        whole = decode_integers(data[2:], count)
        numbers: Floats = whole.astype(np.float64)
        return numbers / 10.0**places if places else numbers
    if coding == Coding.CONSTANT:
        (word,) = reader.unpack(_WORD)
        numbers = np.full(count, word, np.uint64).view(np.float64)
    elif coding == Coding.FLOAT32:
        narrow = _decode_planes(reader, count, 4).view("<f4")
        with np.errstate(all="ignore"):
            numbers = narrow.astype(np.float64)
    elif coding == Coding.FLOAT64:
        numbers = (
            _decode_planes(reader, count, 8).view("<f8").astype(np.float64, copy=False)
        )
    else:
        raise Damaged(f"unknown coding {coding} of floats")
    reader.finish()
    return numbers


def narrowed(numbers: Floats) -> NDArray[np.float32] | None:
    """Return numbers as float32 if that is lossless; else None.

    Compares bits: NaN differs from itself, and a NaN's payload may change in float32.
    """
    narrow = None
    # Most columns fail for the first few numbers.
    for some in (numbers[..., :LOOKED_AT_FIRST], numbers):
        with np.errstate(all="ignore"):
            narrow = some.astype(np.float32)
            back = narrow.astype(np.float64)
        if back.tobytes() != some.tobytes():
            return None
    return narrow


def _encode_float32(numbers: Floats) -> bytes | None:
    narrow = narrowed(numbers)
    if narrow is None:
        return None
    words = narrow.view(np.uint32).astype(np.uint64)
    return _BYTE.pack(Coding.FLOAT32) + _encode_planes(words, 4)


def _encode_decimal(numbers: Floats) -> bytes | None:
    """Encode integers and short decimals such as 37.5 as integers.

    None if it is not lossless.
    """
    for places in range(MAX_PLACES + 1):
        # Most columns fail here, too.
        if _whole(numbers[:LOOKED_AT_FIRST], places) is None:
            continue
        whole = _whole(numbers, places)
        if whole is not None:
            head = _BYTE.pack(Coding.DECIMAL) + _BYTE.pack(places)
            return head + encode_integers(whole)
    return None


def _whole(numbers: Floats, places: int) -> Integers | None:
    scale = 10.0**places
    with np.errstate(all="ignore"):
        rounded = np.rint(numbers * scale)
        if not (np.abs(rounded) <= LARGEST_WHOLE).all():
            return None
        whole = rounded.astype(np.int64)
        back = whole.astype(np.float64) / scale
    same = (back.view(np.uint64) == numbers.view(np.uint64)).all()
    return whole if same else None


def _width(words: Words) -> int:
    """Return the bytes that the largest number needs."""
    return max(1, (int(words.max()).bit_length() + 7) // 8)


def _encode_planes(words: Words, width: int) -> bytes:
    little = np.ascontiguousarray(words, "<u8").view(np.uint8).reshape(-1, 8)
    planes = np.ascontiguousarray(little[:, :width].T)
    return b"".join(_encode_plane(plane) for plane in planes)


def _encode_plane(plane: Bytes) -> bytes:
    if not (plane != plane[0]).any():
        return _PLANE.pack(PlaneCoding.CONSTANT, 1) + plane[:1].tobytes()
    packed = _zstd.compressor.compress(plane.data)
    if len(packed) < len(plane):
        return _PLANE.pack(PlaneCoding.ZSTD, len(packed)) + packed
    return _PLANE.pack(PlaneCoding.RAW, len(plane)) + plane.tobytes()


def _decode_planes(reader: Reader, count: int, width: int) -> NDArray[Any]:
    """Return words of at least `width` bytes; narrower is faster."""
    if not 1 <= width <= 8:  # noqa: PLR2004 - a word's bytes
        raise Damaged(f"numbers of {width} bytes")
    words = np.zeros(count, _WORDS[width])
    little = words.view(np.uint8).reshape(count, words.itemsize)
    for place in range(width):
        coding, length = reader.unpack(_PLANE)
        little[:, place] = _decode_plane(coding, reader.take(length), count)
    return words


def _decode_plane(coding: int, data: memoryview, count: int) -> Bytes:
    if coding == PlaneCoding.ZSTD:
        return np.frombuffer(decompress(data, count), np.uint8)
    expected = 1 if coding == PlaneCoding.CONSTANT else count
    if coding not in (PlaneCoding.CONSTANT, PlaneCoding.RAW) or len(data) != expected:
        raise Damaged(f"unknown coding {coding} of a plane, or of a wrong length")
    return np.frombuffer(data, np.uint8)


def compress(data: bytes | memoryview) -> bytes:
    return _zstd.compressor.compress(data)


def decompress(data: bytes | memoryview, length: int) -> bytes:
    """Return exactly `length` bytes; raise Damaged before allocating more."""
    try:
        # The library allocates whatever size the frame declares.
        if zstandard.frame_content_size(data) != length:
            raise Damaged("compressed bytes are of another length")
        return _zstd.decompressor.decompress(
            data, max_output_size=length, allow_extra_data=False
        )
    except (zstandard.ZstdError, ValueError) as error:
        raise Damaged(f"compressed bytes cannot be read: {error}") from error
