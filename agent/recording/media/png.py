"""Encodes PNG pictures with zlib only (pure)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_BITS = 8
# Color types by bytes per pixel: gray, gray and alpha, RGB, RGBA.
COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}
# Half the time of the default level, for slightly larger pictures.
_LEVEL = 4


def to_png(pixels: bytes, *, width: int, height: int, channels: int) -> bytes:
    """Return rows of pixels, with `channels` bytes each, as PNG."""
    header = struct.pack(">IIBBBBB", width, height, _BITS, COLOURS[channels], 0, 0, 0)
    return b"".join(
        [
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", _compressed(pixels, width * channels)),
            _chunk(b"IEND", b""),
        ]
    )


def to_animation(
    frames: Sequence[bytes],
    *,
    width: int,
    height: int,
    channels: int,
    frames_per_second: float,
) -> bytes:
    """Return frames of pixels as an animated PNG that repeats endlessly."""
    header = struct.pack(">IIBBBBB", width, height, _BITS, COLOURS[channels], 0, 0, 0)
    parts = [_SIGNATURE, _chunk(b"IHDR", header)]
    parts.append(_chunk(b"acTL", struct.pack(">II", len(frames), 0)))
    delay = max(1, round(1_000 / frames_per_second)), 1_000
    number = 0  # of control and data chunks together
    for place, pixels in enumerate(frames):
        control = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, *delay, 0, 0)
        parts.append(_chunk(b"fcTL", control))
        number += 1
        data = _compressed(pixels, width * channels)
        if place == 0:
            # Viewers without animation show the first frame.
            parts.append(_chunk(b"IDAT", data))
        else:
            parts.append(_chunk(b"fdAT", struct.pack(">I", number) + data))
            number += 1
    return b"".join([*parts, _chunk(b"IEND", b"")])


def _compressed(pixels: bytes, stride: int) -> bytes:
    # Each row begins with its filter: none.
    rows = b"".join(
        b"\0" + pixels[start : start + stride]
        for start in range(0, len(pixels), stride)
    )
    return zlib.compress(rows, _LEVEL)


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
