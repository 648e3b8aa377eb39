"""Pictures of a series: their records say which content they are (pure)."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

_HEAD = struct.Struct("<32sQ")
_TYPE = re.compile(rb"image/[a-z0-9.+-]{1,90}")
LARGEST_SIZE = 2**53


class NotAPicture(Exception):
    """The bytes name no picture."""


@dataclass(frozen=True, slots=True)
class StoredPicture:
    digest: str  # SHA-256, as small hexadecimal digits
    size: int  # bytes
    media_type: str


def read_stored_picture(data: bytes) -> StoredPicture:
    """Read what a record says of its picture; raise NotAPicture for any other bytes."""
    media_type = data[_HEAD.size :]
    if len(data) < _HEAD.size or not _TYPE.fullmatch(media_type):
        raise NotAPicture
    digest, size = _HEAD.unpack_from(data)
    if size > LARGEST_SIZE:
        raise NotAPicture
    return StoredPicture(digest.hex(), size, media_type.decode())
