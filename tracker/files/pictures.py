"""Recognizes images and reads their size from the first bytes (pure).

Nothing is decoded. Pages show only recognized images, with the recognized type; the
type reported by the agent is ignored.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

# Browsers decode an image to four bytes per pixel; a few bytes can declare very many.
MAX_PIXELS = 64_000_000
LARGEST_SIDE = 32_767
LARGEST_BYTES = 32 * 1024 * 1024
# Bytes to examine; photographs may begin with long metadata.
HEAD_BYTES = 256 * 1024

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# JPEG frames with the size: 0xC0 to 0xCF except tables and extensions.
JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})


@dataclass(frozen=True, slots=True)
class Picture:
    media_type: str
    width: int
    height: int

    @property
    def may_be_shown(self) -> bool:
        is_bounded = 0 < self.width <= LARGEST_SIDE and 0 < self.height <= LARGEST_SIDE
        return is_bounded and self.width * self.height <= MAX_PIXELS


def read_picture(head: bytes) -> Picture | None:
    """Return the image described by a file's first bytes; None if not recognized."""
    for media_type, read in _READERS.items():
        try:
            size = read(head)
        except (struct.error, IndexError):
            continue
        if size is not None:
            return Picture(media_type, *size)
    return None


def _png(head: bytes) -> tuple[int, int] | None:
    if not head.startswith(PNG_SIGNATURE) or head[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", head, 16)
    return width, height


def _gif(head: bytes) -> tuple[int, int] | None:
    if not head.startswith((b"GIF87a", b"GIF89a")):
        return None
    width, height = struct.unpack_from("<HH", head, 6)
    return width, height


def _webp(head: bytes) -> tuple[int, int] | None:
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        return None
    kind = head[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(head[24:27], "little") + 1
        height = int.from_bytes(head[27:30], "little") + 1
        return (width, height) if len(head) >= 30 else None  # noqa: PLR2004 - as above
    if kind == b"VP8L" and head[20] == 0x2F:  # noqa: PLR2004 - its signature
        (bits,) = struct.unpack_from("<I", head, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    if not head.startswith(b"\xff\xd8\xff"):
        return None
    place = 2
    while head[place] == 0xFF:  # noqa: PLR2004 - before each marker
        marker = head[place + 1]
        if marker == 0xFF:  # noqa: PLR2004 - it may be repeated
            place += 1
        elif marker in JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", head, place + 5)
            return width, height
        elif marker in JPEG_ALONE:
            place += 2
        else:
            (length,) = struct.unpack_from(">H", head, place + 2)
            place += 2 + max(length, 2)
    return None


_READERS = {
    "image/png": _png,
    "image/gif": _gif,
    "image/webp": _webp,
    "image/jpeg": _jpeg,
}
