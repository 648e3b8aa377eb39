"""A batch's points of many series to bytes and back.

Layout in docs/formats/journal-entry.md.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np

from tracker.series.codec import (
    Damaged,
    decode_columns,
    encode_columns,
    framed,
    seal,
    take_framed,
    unseal,
)
from tracker.series.columns import Reader, decode_integers, encode_integers
from tracker.series.points import Points, concatenate

# The most points of one entry, as many as a batch may hold.
ENTRY_POINTS = 1_000_000

MAGIC = b"SMJ"
VERSION = 1

_COUNTS = struct.Struct("<II")


def encode(columns: Mapping[int, Points]) -> bytes:
    """Encode points by series id; steps must be finite, for the store orders by them."""
    columns = {key: part for key, part in columns.items() if len(part)}
    points = concatenate(list(columns.values()))
    if not np.isfinite(points.steps).all():
        raise ValueError("steps must be finite")

    body = _COUNTS.pack(len(columns), len(points))
    if columns:
        ids = np.array(list(columns), np.int64)
        lengths = np.array([len(part) for part in columns.values()], np.int64)
        index = framed([encode_integers(ids), encode_integers(lengths)])
        body += b"".join(index) + encode_columns(points)
    return seal(MAGIC, VERSION, body)


def decode(data: bytes | memoryview) -> dict[int, Points]:
    """Decode points by series id; raise Damaged for bytes `encode` did not make."""
    reader = Reader(unseal(MAGIC, VERSION, data))
    series_count, count = reader.unpack(_COUNTS)
    # A series without points is left out, so there are no more series than points.
    if count > ENTRY_POINTS or series_count > count:
        raise Damaged(f"{count} points of {series_count} series")
    if not series_count:
        reader.finish()
        return {}

    ids = decode_integers(take_framed(reader), series_count)
    lengths = decode_integers(take_framed(reader), series_count)
    if lengths.min() < 1 or lengths.max() > count or lengths.sum() != count:
        raise Damaged("the series are not as long as all points")
    if len(np.unique(ids)) != series_count:
        raise Damaged("a series is there twice")
    points = decode_columns(reader, count)
    reader.finish()
    if not np.isfinite(points.steps).all():
        raise Damaged("steps are not finite")

    ends = np.cumsum(lengths)
    return {
        int(series_id): points[end - length : end]
        for series_id, length, end in zip(ids, lengths, ends, strict=True)
    }
