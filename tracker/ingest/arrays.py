"""Parses the header of a MessagePack array (pure)."""

from __future__ import annotations

# First bytes of arrays: four bits and a length, or the width of the length.
FIXARRAY = 0x9
ARRAY_HEADERS = {0xDC: 2, 0xDD: 4}


def claimed_length(array: bytes | memoryview) -> int:
    """Return the declared number of items without reading them.

    Each item costs memory, so the declared length is checked first.
    """
    first = array[0] if array else 0
    if first >> 4 == FIXARRAY:
        return first & 0x0F
    width = ARRAY_HEADERS.get(first, 0)
    return int.from_bytes(array[1 : 1 + width], "big")
