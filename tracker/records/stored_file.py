"""Files of a series: a record holds a content's digest and its details (pure)."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass, field

_HEAD = struct.Struct("<32sQ")
_TYPE = re.compile(rb"[a-z0-9][a-z0-9!#$&^_.+-]{0,89}/[a-z0-9!#$&^_.+-]{1,90}")
IMAGE = "image/"
LARGEST_SIZE = 2**53
MAX_DETAIL_BYTES = 64 * 1024
MAX_BOXES = 200
LONGEST_CAPTION, LONGEST_LABEL = 1_000, 100
CORNERS = 4


class NotAStoredFile(Exception):
    """The bytes reference no file."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a picture, in pixels."""

    left: float
    top: float
    right: float
    bottom: float
    label: str = ""

    @property
    def width(self) -> float:
        return max(0.0, self.right - self.left)

    @property
    def height(self) -> float:
        return max(0.0, self.bottom - self.top)


@dataclass(frozen=True, slots=True)
class StoredFile:
    digest: str  # SHA-256, as small hexadecimal digits
    size: int  # bytes
    media_type: str
    caption: str = ""
    boxes: tuple[Box, ...] = field(default=())
    # Drawn over the picture before it.
    is_mask: bool = False


def read_stored_file(data: bytes) -> StoredFile:
    """Read a record; raise NotAStoredFile for any other bytes."""
    media_type, zero, details = data[_HEAD.size :].partition(b"\0")
    if len(data) < _HEAD.size or not _TYPE.fullmatch(media_type):
        raise NotAStoredFile
    digest, size = _HEAD.unpack_from(data)
    if size > LARGEST_SIZE or len(details) > MAX_DETAIL_BYTES:
        raise NotAStoredFile
    found = _details(details) if zero else {}
    return StoredFile(
        digest.hex(),
        size,
        media_type.decode(),
        caption=_text(found.get("caption"), LONGEST_CAPTION),
        boxes=_boxes(found.get("boxes")),
        is_mask=found.get("is_mask") is True,
    )


def read_stored_picture(data: bytes) -> StoredFile:
    """Read the record of a picture; raise NotAStoredFile for any other bytes."""
    found = read_stored_file(data)
    if not found.media_type.startswith(IMAGE):
        raise NotAStoredFile
    return found


def _details(data: bytes) -> dict[str, object]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NotAStoredFile from error
    if not isinstance(found, dict):
        raise NotAStoredFile
    return found


def _text(value: object, most: int) -> str:
    # JSON can name half of a surrogate pair.
    text = value[:most] if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode()


def _boxes(value: object) -> tuple[Box, ...]:
    listed = value[:MAX_BOXES] if isinstance(value, list) else []
    return tuple(box for each in listed if (box := _box(each)) is not None)


def _box(value: object) -> Box | None:
    if not isinstance(value, list) or not CORNERS <= len(value) <= CORNERS + 1:
        return None
    corners = value[:CORNERS]
    if not all(
        type(each) in (int, float) and abs(each) <= LARGEST_SIZE for each in corners
    ):
        return None
    label = _text(value[CORNERS], LONGEST_LABEL) if len(value) > CORNERS else ""
    left, top, right, bottom = map(float, corners)
    return Box(left, top, right, bottom, label)
