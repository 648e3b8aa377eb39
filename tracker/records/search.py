"""Finds text in records, ignoring case and terminal colors (pure)."""

from __future__ import annotations

import re
from bisect import bisect_right

import numpy as np

from tracker.records.record import Records
from tracker.series.points import Integers

# Terminal escape sequences: CSI, OSC and two-byte ones.
INSTRUCTION = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])"
)
_INSTRUCTION_BYTES = re.compile(INSTRUCTION.pattern.encode())
_ESCAPE = b"\x1b"


def plain(text: str) -> str:
    """Return a text without terminal escape sequences."""
    return INSTRUCTION.sub("", text) if "\x1b" in text else text


def places_of(records: Records, needle: str) -> Integers:
    """Return the indices of the records that contain a text, in order."""
    if not needle.isascii():
        return _places_one_by_one(records, needle)
    values, sizes = records.values, records.sizes
    if _ESCAPE in values:
        shown = [_INSTRUCTION_BYTES.sub(b"", value) for value in records.listed()]
        values = b"".join(shown)
        sizes = np.fromiter(map(len, shown), np.int64, len(shown))
    return _places(values.lower(), np.cumsum(sizes), needle.lower().encode())


def _places(values: bytes, ends: Integers, needle: bytes) -> Integers:
    """Search all values at once; skip matches that cross the end of a value."""
    places: list[int] = []
    limits = ends.tolist()
    found = values.find(needle)
    while found >= 0:
        place = bisect_right(limits, found)
        if found + len(needle) <= limits[place]:
            places.append(place)
            # Further matches in the same value do not matter.
            found = values.find(needle, limits[place])
        else:
            found = values.find(needle, found + 1)
    return np.array(places, np.int64)


def _places_one_by_one(records: Records, needle: str) -> Integers:
    folded = needle.casefold()
    texts = (plain(value.decode(errors="replace")) for value in records.listed())
    places = [place for place, text in enumerate(texts) if folded in text.casefold()]
    return np.array(places, np.int64)
