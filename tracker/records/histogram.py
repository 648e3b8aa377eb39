"""Encodes and decodes histogram records; docs/formats/records.md (pure)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from tracker.series.points import Floats

_HEAD = struct.Struct("<Bd")
_NUMBER_BYTES = 8
# More than a chart has rows for.
MAX_BINS = 512
EXPLICIT, EVEN = 0, 1


class NotAHistogram(Exception):
    """The bytes are not a valid histogram; the message has the reason."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of values per bin: one edge more than counts, or neither."""

    edges: Floats
    counts: Floats
    # Number of non-finite values, which are in no bin.
    others: float


def read_histogram(data: bytes) -> Histogram:
    """Decode a histogram; raise NotAHistogram for invalid bytes."""
    size = len(data) - _HEAD.size
    if size < 0 or size % _NUMBER_BYTES:
        raise NotAHistogram("its length is invalid")
    form, others = _HEAD.unpack_from(data)
    numbers = np.frombuffer(data, "<f8", offset=_HEAD.size).astype(np.float64)
    if form == EVEN:
        edges, counts = numbers[:2], numbers[2:]
    elif form == EXPLICIT:
        bins = len(numbers) // 2
        edges, counts = numbers[: bins + 1], numbers[bins + 1 :]
    else:
        raise NotAHistogram("its form is unknown")
    _check(form, edges, counts)
    if not np.isfinite(others) or others < 0:
        raise NotAHistogram("the number of values without a bin is below 0")
    if not len(counts):
        return Histogram(np.empty(0), counts, others)
    if form == EVEN:
        edges = np.linspace(edges[0], edges[1], len(counts) + 1)
    return Histogram(edges, counts, others)


def _check(form: int, edges: Floats, counts: Floats) -> None:
    expected = 2 if form == EVEN else len(counts) + 1
    if len(edges) != expected or (form == EXPLICIT and not len(counts)):
        raise NotAHistogram("its number of edges is invalid")
    if len(counts) > MAX_BINS:
        raise NotAHistogram(f"it has more than {MAX_BINS} bins")
    if not (np.isfinite(edges).all() and np.isfinite(counts).all()):
        raise NotAHistogram("its edges and counts are not all finite")
    if (counts < 0).any():
        raise NotAHistogram("a count is below zero")
    is_ascending = bool((edges[1:] > edges[:-1]).all())
    # In Python, where infinity raises no warning.
    width = float(edges[-1]) - float(edges[0])
    if len(counts) and not (is_ascending and np.isfinite(width)):
        raise NotAHistogram("its edges do not ascend")
