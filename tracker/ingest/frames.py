"""Splits a body into frames; docs/protocol.md has their layout (pure)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from tracker.errors import MalformedBatch, TooLarge
from tracker.ingest.limits import LIMITS

# CRC, length of the payload, number.
HEADER = struct.Struct("<IIQ")
CHECKSUM_BYTES = 4
# Frame numbers are stored as signed 64-bit integers.
HIGHEST_NUMBER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Frame:
    number: int
    payload: memoryview
    checksum: int


def read_frames(body: bytes) -> Iterator[Frame]:
    """Split a body into frames; raise MalformedBatch if any is damaged."""
    view = memoryview(body)
    position = 0
    expected = None
    while position < len(view):
        if len(view) - position < HEADER.size:
            raise MalformedBatch("The last frame is cut short.")
        checksum, length, number = HEADER.unpack_from(view, position)
        end = position + HEADER.size + length
        if end > len(view):
            raise MalformedBatch("The last frame is cut short.")
        if length > LIMITS.frame_bytes:
            raise TooLarge("A frame", f"{LIMITS.frame_bytes} bytes")
        if zlib.crc32(view[position + CHECKSUM_BYTES : end]) != checksum:
            raise MalformedBatch("A frame's checksum does not match its content.")
        if not 1 <= number <= HIGHEST_NUMBER or number != (expected or number):
            raise MalformedBatch("The frames are not numbered consecutively.")

        yield Frame(number, view[position + HEADER.size : end], checksum)
        expected = number + 1
        position = end
