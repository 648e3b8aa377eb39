"""Image records, which reference a stored content (pure)."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

_HEAD = struct.Struct("<32sQ")
_TYPE = re.compile(rb"image/[a-z0-9.+-]{1,90}")
LARGEST_SIZE = 2**53


class NotAPicture(Exception):
    """The bytes are not an image reference."""


@dataclass(frozen=True, slots=True)
class StoredPicture:
    digest: str  # SHA-256 in lower-case hexadecimal
    size: int  # bytes
    media_type: str


def read_stored_picture(data: bytes) -> StoredPicture:
    """Decode an image record; raise NotAPicture for invalid bytes."""
    media_type = data[_HEAD.size :]
    if len(data) < _HEAD.size or not _TYPE.fullmatch(media_type):
        raise NotAPicture
    digest, size = _HEAD.unpack_from(data)
    if size > LARGEST_SIZE:
        raise NotAPicture
    return StoredPicture(digest.hex(), size, media_type.decode())
