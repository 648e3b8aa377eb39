"""Arrays as bytes for a browser, without the parts it has; see docs/formats/points.md.

Pure. A request names the items that the client has from the start and the end of each
array, with their digest. If the digest matches, they are omitted, so the client always
ends up with the complete arrays.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tracker.series.points import Floats

MAGIC = b"SMP"
VERSION = 1
# The alignment of a browser's typed arrays.
ALIGNMENT = 8
# The range of float32, with room for arithmetic.
LARGEST_FLOAT32, SMALLEST_FLOAT32 = 1e38, 1e-37
# A float32 has 7 digits; a line that uses only the last one would show steps.
NARROWEST_RANGE = 1e-4

_HEAD = struct.Struct("<3sBI")
_KNOWN = struct.Struct("<II8s")

Array = NDArray[Any]


class Columns:
    """The arrays of a response, each stored once."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, bytes], int] = {}
        self._described: list[list[object]] = []
        self._parts: list[bytes] = []
        self._length = 0

    def add(self, array: Array) -> int:
        """Return the array's index in the response's list of columns."""
        code = array.dtype.newbyteorder("<")
        data = array.astype(code, copy=False).tobytes()
        key = (code.str[1:], data)
        if key not in self._places:
            self._places[key] = len(self._described)
            self._described.append([key[0], self._length, array.size])
            padding = -len(data) % ALIGNMENT
            self._parts += [data, bytes(padding)]
            self._length += len(data) + padding
        return self._places[key]

    # Any: every JSON value.
    def pack(self, header: Mapping[str, Any]) -> bytes:
        described = {**header, "columns": self._described}
        text = orjson.dumps(described)
        # Blanks, which JSON ignores, to align the columns.
        text += b" " * (-(_HEAD.size + len(text)) % ALIGNMENT)
        return b"".join([_HEAD.pack(MAGIC, VERSION, len(text)), text, *self._parts])


@dataclass(frozen=True, slots=True)
class Held:
    """The items that a client has of arrays of one length: the first and last ones."""

    first: int
    last: int
    digest: bytes


def held(arrays: Sequence[Array], first: int, last: int = 0) -> Held:
    """Return the state of a client that keeps these items."""
    digest = blake2b(digest_size=8)
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape[1:]}".encode())
        digest.update(np.ascontiguousarray(array[:first]).data)
        digest.update(np.ascontiguousarray(array[len(array) - last :]).data)
    return Held(first, last, digest.digest())


def may_keep(arrays: Sequence[Array], known: Held) -> bool:
    """Return whether the arrays begin and end with the client's items."""
    length = min(map(len, arrays))
    return (
        known.first + known.last <= length
        and held(arrays, known.first, known.last) == known
    )


def pack_held(items: Sequence[Held]) -> str:
    data = b"".join(_KNOWN.pack(each.first, each.last, each.digest) for each in items)
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def most_held(characters: int) -> int:
    """Return the number of items that `pack_held` encodes in this many characters."""
    return characters * 3 // 4 // _KNOWN.size


def read_held(text: str) -> list[Held]:
    """Decode the output of `pack_held`; return an empty list for anything else."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
        return [Held(*fields) for fields in _KNOWN.iter_unpack(data)]
    except (ValueError, struct.error):
        return []


def narrow_places(x: Floats) -> Array:
    """Return positions in half the bytes if that is lossless."""
    if not len(x) or not (np.abs(x) < 2.0**31).all():
        return x
    whole = x.astype("<i4")
    return whole if (whole == x).all() else x


def narrow_exactly(values: Floats) -> Array:
    """Return values in half the bytes if that is lossless."""
    with np.errstate(all="ignore"):
        narrow = values.astype("<f4")
    return narrow if ((narrow == values) | np.isnan(values)).all() else values


def narrow_summaries(
    mean: Floats, minimum: Floats, maximum: Floats
) -> tuple[Array, Array, Array]:
    """Return summaries in half the bytes if the difference is invisible.

    They are rounded outwards, so that the range still contains all values.
    """
    if not fits_float32(np.concatenate([minimum, maximum])):
        return mean, minimum, maximum
    low, high = minimum.astype("<f4"), maximum.astype("<f4")
    down, up = np.float32(-np.inf), np.float32(np.inf)
    return (
        mean.astype("<f4"),
        np.where(low > minimum, np.nextafter(low, down), low),
        np.where(high < maximum, np.nextafter(high, up), high),
    )


def fits_float32(array: Floats) -> bool:
    """Return whether a chart of these values looks the same as float32."""
    finite = array[np.isfinite(array)]
    size = np.abs(finite[finite != 0])
    if not size.size:
        return True
    # Halves, because the difference of two huge values may overflow.
    half_range = float(finite.max() / 2 - finite.min() / 2)
    is_flat = half_range == 0
    return bool(
        size.max() < LARGEST_FLOAT32
        and size.min() > SMALLEST_FLOAT32
        and (is_flat or half_range * 2 > NARROWEST_RANGE * size.max())
    )
