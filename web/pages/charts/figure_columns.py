"""Figures with their numbers as binary columns, and only those the browser lacks (pure).

The layout is that of docs/formats/points.md. In the header stands the figure, unless the
browser holds the same; in place of each array {"array": number}, which names one of
the header's list of arrays.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tracker.series.wire import Columns, Held, held, may_keep, pack_held, read_held

CONTENT_TYPE = "application/vnd.seamark.figure"
BUNDLE_TYPE = "application/vnd.seamark.figures"

_LENGTH = struct.Struct("<I")

Array = NDArray[Any]
# JSON about to leave.
Json = Any


@dataclass(slots=True, eq=False)
class Arrays:
    """The arrays of a figure, each once, with the part that the browser keeps."""

    places: dict[tuple[str, str, str], int] = field(default_factory=dict)
    found: list[Array] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)

    def place_of(self, encoded: dict[str, str], *, is_outline: bool) -> int:
        shape = encoded.get("shape", "")
        key = (encoded["dtype"], encoded["bdata"], shape)
        if key not in self.places:
            data = base64.b64decode(encoded["bdata"])
            array = np.frombuffer(data, f"<{encoded['dtype']}")
            if shape:
                array = array.reshape([int(length) for length in shape.split(",")])
            self.places[key] = len(self.found)
            self.found.append(array)
            self.held.append(_held_outline(array) if is_outline else _held_line(array))
        return self.places[key]


# Any: a figure is JSON.
def packed(figure: dict[str, Any], since: str, *, version: str = "") -> bytes:
    """Encode the figure; `since` is the client's cached version, or empty.

    The client sends the version with its next request, which answers 304 if it is
    current.
    """
    arrays = Arrays()
    plain = _taken_out(figure, arrays)
    digest = blake2b(orjson.dumps(plain), digest_size=8).hexdigest()
    known_digest, _, known_arrays = since.partition(".")
    known = read_held(known_arrays)
    if len(known) != len(arrays.found):
        known = [held([array], 0) for array in arrays.found]

    columns = Columns()
    described = []
    for array, then in zip(arrays.found, known, strict=True):
        first, last = (then.first, then.last) if may_keep([array], then) else (0, 0)
        described.append(
            {
                "column": columns.add(array[first : len(array) - last]),
                "width": int(np.prod(array.shape[1:])),
                "first": first,
                "last": last,
            }
        )
    # Without its numbers a figure hardly ever changes while its lines grow.
    header: dict[str, Any] = {"version": version} if version else {}
    if known_digest != digest:
        header["figure"] = plain
    header |= {"arrays": described, "since": f"{digest}.{pack_held(arrays.held)}"}
    return columns.pack(header)


def bundled(figures: Sequence[bytes]) -> bytes:
    """Join packed figures, each after its length; one that is not sent again is empty."""
    return b"".join(_LENGTH.pack(len(each)) + each for each in figures)


def _taken_out(value: Json, arrays: Arrays, *, is_outline: bool = False) -> Json:
    """Copy JSON, each typed array replaced by its number."""
    if isinstance(value, list):
        return [_taken_out(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "bdata" in value:
        return {"array": arrays.place_of(value, is_outline=is_outline)}
    is_band = value.get("fill") == "toself"
    return {
        name: _taken_out(item, arrays, is_outline=is_band)
        for name, item in value.items()
    }


def _held_line(array: Array) -> Held:
    """The last item may still change: the last bucket grows."""
    return held([array], max(0, len(array) - 1))


def _held_outline(array: Array) -> Held:
    """A band is drawn along its top and back along its bottom: it grows in the middle."""
    gaps = np.flatnonzero(np.isnan(array))
    begin = int(gaps[-1]) + 1 if len(gaps) else 0
    half = (len(array) - begin) // 2
    rest = max(0, half - 1)
    return held([array], begin + rest, rest)
