"""Reads protocol buffers without their schema (pure)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_VARINT, _BYTES = 0, 2
_FIXED = {1: struct.Struct("<d"), 5: struct.Struct("<f")}
_MAX_VARINT_BYTES = 10
_CONTINUES = 0x80


def fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Yield the number and the value of each field; raise ValueError if damaged.

    A value is an unsigned integer, a float, or bytes: a text, a message, or packed
    numbers.
    """
    place = 0
    while place < len(data):
        tag, place = varint(data, place)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, place = varint(data, place)
            yield number, value
        elif wire == _BYTES:
            length, place = varint(data, place)
            if place + length > len(data):
                raise ValueError("a field ends after its message")
            yield number, data[place : place + length]
            place += length
        elif wire in _FIXED:
            form = _FIXED[wire]
            if place + form.size > len(data):
                raise ValueError("a field ends after its message")
            yield number, form.unpack_from(data, place)[0]
            place += form.size
        else:
            raise ValueError("an unknown kind of field")


def varint(data: bytes, place: int) -> tuple[int, int]:
    """Return the unsigned integer at a position, and the position after it."""
    value = 0
    for shift in range(_MAX_VARINT_BYTES):
        if place >= len(data):
            break
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << (7 * shift)
        if byte < _CONTINUES:
            return value, place
    raise ValueError("a number has no end")


def signed(value: object) -> int:
    """Return an unsigned integer of 64 bits with its sign; 0 for other values."""
    if not isinstance(value, int):
        return 0
    return value - (1 << 64) if value >= 1 << 63 else value
