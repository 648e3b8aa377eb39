"""Frames: numbered, checksummed payloads, the same bytes in a file and on the wire.

The reader trusts nothing: it returns only frames with a valid checksum and continues
after damaged ones.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

_HEADER = struct.Struct("<IIQ")  # CRC, length of the payload, number
_CHECKED_HEADER = struct.Struct("<IQ")
HEADER_BYTES = _HEADER.size
# The largest payload that the server accepts.
LARGEST_PAYLOAD_BYTES = 4 * 1024 * 1024
# No spool reaches this; otherwise seven bytes of a float could pass for a number.
_LARGEST_NUMBER = 2**40
_NUMBER_BYTES = 8
_NOT_ZERO = re.compile(rb"[^\0]")


@dataclass(frozen=True)
class Frame:
    """One intact frame; `end` is the offset after it in the data it was read from."""

    number: int
    payload: bytes
    end: int = 0

    def to_bytes(self) -> bytes:
        """Return the frame as it is stored and sent."""
        checked = _CHECKED_HEADER.pack(len(self.payload), self.number) + self.payload
        return struct.pack("<I", zlib.crc32(checked)) + checked


def read_frames(data: bytes) -> Iterator[Frame]:
    """Yield every intact frame in `data`, in order."""
    offset = 0
    while offset + HEADER_BYTES <= len(data):
        frame = _read_frame(data, offset)
        if frame is None:
            offset = _next_offset(data, offset)
        else:
            yield frame
            offset = frame.end


def _next_offset(data: bytes, offset: int) -> int:
    """Return the next possible frame offset; numbers are nonzero, lost pages are zero."""
    number_at = offset + HEADER_BYTES - _NUMBER_BYTES
    if any(data[number_at : offset + HEADER_BYTES]):
        return offset + 1
    found = _NOT_ZERO.search(data, offset + HEADER_BYTES)
    return found.start() - HEADER_BYTES + 1 if found else len(data)


def _read_frame(data: bytes, offset: int) -> Frame | None:
    crc, length, number = _HEADER.unpack_from(data, offset)
    # Cheap tests first: after damage this runs for every byte.
    if not 0 < number < _LARGEST_NUMBER or length > LARGEST_PAYLOAD_BYTES:
        return None
    end = offset + HEADER_BYTES + length
    if end > len(data) or zlib.crc32(memoryview(data)[offset + 4 : end]) != crc:
        return None
    return Frame(number, data[offset + HEADER_BYTES : end], end)
