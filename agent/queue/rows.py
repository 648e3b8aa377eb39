"""Reads rows of a live or dead process (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from mmap import mmap
from typing import NamedTuple

from seamark.queue.layouts import HEAD, TAIL, Layout

Memory = bytes | bytearray | memoryview | mmap


class Row(NamedTuple):
    """Points of one logging call: a value for each path."""

    paths: tuple[str, ...]
    step: float
    time: int  # microseconds since 1970
    values: bytes  # little-endian doubles


def read_row(data: Memory, place: int, layouts: Mapping[int, Layout]) -> Row:
    """Return the row at an offset with a complete row."""
    _, layout, time, step = HEAD.unpack_from(data, place)
    found = layouts[layout]
    values = data[place + HEAD.size : place + found.size - TAIL.size]
    return Row(found.paths, step, time, bytes(values))


def intact_rows(
    data: Memory, number: int, place: int, end: int, layouts: Mapping[int, Layout]
) -> Iterator[tuple[Row, int]]:
    """Yield the complete rows from a number and offset on, each with the next offset.

    After a row that reaches `end` or beyond, the next one is at offset 0.
    """
    while place + HEAD.size <= len(data):
        found, layout, _, _ = HEAD.unpack_from(data, place)
        size = layouts[layout].size if layout in layouts else len(data) + 1
        if found != number or place + size > len(data):
            return
        if TAIL.unpack_from(data, place + size - TAIL.size)[0] != number:
            return
        row = read_row(data, place, layouts)
        number += 1
        place = 0 if place + size >= end else place + size
        yield row, place
