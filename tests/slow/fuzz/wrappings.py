"""Wrapping of decoder inputs: checksums, lengths, numbers.

Random changes would only reach the checksum. So inputs are unwrapped before the change,
and wrapped again with valid checksums.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

FRAME = struct.Struct("<IIQ")  # CRC, length, number
SEAL_BYTES = 8  # magic, version and CRC
HEAD_BYTES = 4  # without the CRC
GZIP_HEAD, GZIP_TAIL = 10, 8
MAX_UNPACKED = 2**22


@dataclass(frozen=True, slots=True)
class Wrapping:
    """Functions that unwrap arbitrary bytes and wrap them again."""

    parts: Callable[[bytes], list[bytes]]
    whole: Callable[[Sequence[bytes]], bytes]


def frame_payloads(data: bytes) -> list[bytes]:
    payloads = []
    while len(data) >= FRAME.size:
        _, length, _ = FRAME.unpack_from(data)
        payloads.append(data[FRAME.size : FRAME.size + length])
        data = data[FRAME.size + length :]
    return payloads


def frames(payloads: Sequence[bytes]) -> bytes:
    return b"".join(
        _frame(payload, number) for number, payload in enumerate(payloads, start=1)
    )


def _frame(payload: bytes, number: int) -> bytes:
    checked = struct.pack("<IQ", len(payload), number) + payload
    return struct.pack("<I", zlib.crc32(checked)) + checked


def sealed_parts(data: bytes) -> list[bytes]:
    return [data[:HEAD_BYTES], data[SEAL_BYTES:]]


def sealed(parts: Sequence[bytes]) -> bytes:
    head, *rest = parts or [b""]
    body = b"".join(rest)
    return head + struct.pack("<I", zlib.crc32(body)) + body


def gzip_parts(data: bytes) -> list[bytes]:
    return [data[:GZIP_HEAD], data[GZIP_HEAD:-GZIP_TAIL]]


def gzipped(parts: Sequence[bytes]) -> bytes:
    head, *rest = parts or [b""]
    deflated = b"".join(rest)
    content = b""
    with suppress(zlib.error):
        content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(deflated, MAX_UNPACKED)
    tail = struct.pack("<II", zlib.crc32(content), len(content))
    return head + deflated + tail


FRAMES = Wrapping(frame_payloads, frames)
SEAL = Wrapping(sealed_parts, sealed)
GZIP = Wrapping(gzip_parts, gzipped)
NOTHING = Wrapping(lambda data: [data], b"".join)
