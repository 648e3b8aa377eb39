"""Histograms from and to the bytes of their records; docs/formats/records.md (pure)."""

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
    """The bytes are no histogram, and why."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How often values lie between which edges: one edge more than counts, or none."""

    edges: Floats
    counts: Floats
    # Values that are not finite, and so in no bin.
    others: float


def read_histogram(data: bytes) -> Histogram:
    """Read a histogram; raise NotAHistogram for any bytes that are none."""
    size = len(data) - _HEAD.size
    if size < 0 or size % _NUMBER_BYTES:
        raise NotAHistogram("its bytes are of no possible length")
    form, others = _HEAD.unpack_from(data)
    numbers = np.frombuffer(data, "<f8", offset=_HEAD.size).astype(np.float64)
    if form == EVEN:
        edges, counts = numbers[:2], numbers[2:]
    elif form == EXPLICIT:
        bins = len(numbers) // 2
        edges, counts = numbers[: bins + 1], numbers[bins + 1 :]
    else:
        raise NotAHistogram("it is of no known form")
    _check(form, edges, counts)
    if not np.isfinite(others) or others < 0:
        raise NotAHistogram("values without a bin are a number from 0 on")
    if not len(counts):
        return Histogram(np.empty(0), counts, others)
    if form == EVEN:
        edges = np.linspace(edges[0], edges[1], len(counts) + 1)
    return Histogram(edges, counts, others)


def _check(form: int, edges: Floats, counts: Floats) -> None:
    expected = 2 if form == EVEN else len(counts) + 1
    if len(edges) != expected or (form == EXPLICIT and not len(counts)):
        raise NotAHistogram("it has as many edges as no histogram has")
    if len(counts) > MAX_BINS:
        raise NotAHistogram(f"it has more than {MAX_BINS} bins")
    if not (np.isfinite(edges).all() and np.isfinite(counts).all()):
        raise NotAHistogram("its edges and counts are not all finite")
    if (counts < 0).any():
        raise NotAHistogram("a count is below zero")
    is_ascending = bool((edges[1:] > edges[:-1]).all())
    # In Python, where infinity is no warning.
    width = float(edges[-1]) - float(edges[0])
    if len(counts) and not (is_ascending and np.isfinite(width)):
        raise NotAHistogram("its edges do not ascend")
