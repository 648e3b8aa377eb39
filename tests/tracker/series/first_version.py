"""Writes bytes and rows as the first version did, for tests that upgrade them.

Bytes are laid out as the sections "Version 1" of docs/formats say.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from tracker.series.codec import FULL_POINTS, framed, seal
from tracker.series.columns import compress, encode_floats, encode_integers
from tracker.series.downsample import Buckets, summarize
from tracker.series.points import Points, concatenate


def encode_chunk(points: Points) -> bytes:
    columns = b"".join(framed(_columns(points)))
    return seal(b"SMC", 1, struct.pack("<I", len(points)), columns)


def encode_overview(buckets: Buckets) -> bytes:
    words = np.array(
        [getattr(buckets, field.name).view("<u8") for field in fields(Buckets)]
    )
    planes = words.view(np.uint8).reshape(len(words), len(buckets), 8)
    packed = compress(planes.transpose(0, 2, 1).tobytes())
    return seal(b"SMO", 1, struct.pack("<I", len(buckets)), packed)


def encode_entry(parts: Mapping[int, Points]) -> bytes:
    """Encode a journal entry of points by series id."""
    points = concatenate(list(parts.values()))
    index = framed(
        [
            encode_integers(np.array(list(parts), np.int64)),
            encode_integers(np.array([len(p) for p in parts.values()], np.int64)),
        ]
    )
    columns = framed(_columns(points))
    counts = struct.pack("<II", len(parts), len(points))
    return seal(b"SMJ", 1, counts, *index, *columns)


def chunk_rows(points: Points) -> list[dict[str, Any]]:
    """Return the columns of chunks: full ones, in order of step, and one that is open."""
    points = points.sorted_by_step()
    parts = [
        points[start : start + FULL_POINTS]
        for start in range(0, len(points), FULL_POINTS)
    ]
    return [
        {
            **whole_of(part),
            "overview": encode_overview(summarize(part)),
            "data": encode_chunk(part),
            "is_open": len(part) < FULL_POINTS,
        }
        for part in parts
    ]


def whole_of(points: Points) -> dict[str, Any]:
    """Return the summary of all points in the row of a chunk or series."""
    finite = points.values[np.isfinite(points.values)]
    known = points.values[~np.isnan(points.values)]
    return {
        "count": len(points),
        "finite_count": len(finite),
        "minimum": known.min().item() + 0.0 if len(known) else None,
        "maximum": known.max().item() + 0.0 if len(known) else None,
        "total": finite.sum().item() + 0.0,
        "first_step": points.steps.min().item(),
        "last_step": points.steps.max().item(),
        "first_time": points.times.min().item(),
        "last_time": points.times.max().item(),
    }


def summary_of(points: Points) -> dict[str, Any]:
    """Return the summary of a series row over the points in its chunks."""
    if not len(points):
        return {}
    last = points.sorted_by_step().values[-1]
    number = None if np.isnan(last) else last.item() + 0.0
    return {**whole_of(points), "number": number, "is_nan": bool(np.isnan(last))}


def _columns(points: Points) -> list[bytes]:
    return [
        encode_floats(points.steps),
        encode_integers(points.times),
        encode_floats(points.values),
    ]
