"""Checks stored points row by row (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.models import JournalEntry, SeriesChunk, SeriesTicks
from tracker.series import codec, journal
from tracker.series.columns import Damaged
from tracker.series.downsample import (
    BUCKET_POINTS,
    Buckets,
    bucket_starts,
    summarize,
    summarize_rows,
    summarize_ticks,
)
from tracker.series.points import Floats, Integers, Points
from tracker.series.rows import checksums_of, stored
from tracker.series.table import Table

# Sums of the same numbers in another order differ by rounding.
TOLERANCE = 1e-9

# The columns of a chunk's row that describe all its points.
ROW_NUMBERS = tuple(field.name for field in fields(Buckets))

Ticks = tuple[Floats, Integers]
# None if unreadable.
TicksById = Mapping[int, Ticks | None]


def read_entry(entry: JournalEntry) -> tuple[list[Table], list[str]]:
    """Return the tables of an entry, and the differences from its row."""
    tables = journal.decode(entry.data)
    count = sum(table.point_count for table in tables)
    wrong = []
    if count != entry.point_count:
        wrong.append(f"it has {count:,} points, expected {entry.point_count:,}")
    if not 1 <= entry.first_number <= entry.last_number:
        wrong.append(f"frames {entry.first_number} to {entry.last_number} are invalid")
    return tables, wrong


def read_ticks(row: SeriesTicks) -> Ticks | None:
    try:
        return codec.decode_ticks(row.data)
    except Damaged:
        return None


def ticks_overview(ticks: Ticks) -> codec.Columns:
    """Return the drawing buckets of ticks."""
    steps, times = ticks
    return summarize_ticks(steps, times, bucket_starts(len(steps)))


def ends_of(ticks: Ticks) -> tuple[float, ...]:
    """Return TICK_COLUMNS for all ticks, as stored in the rows of chunks."""
    whole = summarize_ticks(*ticks, bucket_starts(1))
    return tuple(whole[name][0].item() for name in codec.TICK_COLUMNS)


def ticks_overview_faults(row: SeriesTicks, ticks: Ticks) -> Iterator[str]:
    """Yield faults of the drawing buckets of ticks; raise Damaged if unreadable."""
    if len(ticks[0]) <= BUCKET_POINTS and not row.overview:
        return  # the rows of the chunks have the same information
    found, expected = codec.decode_ticks_overview(row.overview), ticks_overview(ticks)
    if any(not np.array_equal(found[name], expected[name]) for name in expected):
        yield "their drawing buckets differ from the ticks"


def read_chunk(row: SeriesChunk, ticks: Ticks | None) -> tuple[Points, Buckets]:
    """Return a chunk's points, and one bucket of them; raise Damaged if unreadable."""
    points = codec.decode(row.data, ticks)
    if not len(points):
        raise Damaged("there are no points")
    return points, summarize(points, size=len(points))


def is_row_damaged(row: SeriesChunk) -> bool:
    """Return whether a row's numbers fail their checksum."""
    return row.checksum is not None and [row.checksum] != checksums_of([row])


def make_row_anew(row: SeriesChunk, whole: Buckets) -> None:
    """Set a row's numbers from its points, without saving it."""
    for name in ROW_NUMBERS:
        number = getattr(whole, name)[0]
        is_float = codec.dtype_of(name) is np.float64
        setattr(row, name, stored(number) if is_float else number.item())
    (row.checksum,) = checksums_of([row])


def chunk_faults(row: SeriesChunk, whole: Buckets, points: Points) -> Iterator[str]:
    """Yield differences between a chunk's row and its points."""
    for name in ROW_NUMBERS:
        stored = getattr(row, name)
        found = getattr(whole, name)[0].item()
        stored = float("nan") if stored is None else stored
        if not _is_same(name, stored, found, points):
            yield f"{name} is {stored} in its row and {found} in its points"
    if row.is_open and row.count >= codec.FULL_POINTS:
        yield "it is open and full"


def chunk_overview(points: Points, *, has_ticks: bool) -> bytes:
    """Return the encoded drawing buckets of a chunk's points."""
    if not has_ticks:
        return codec.encode_whole_overview(summarize(points))
    own = summarize_rows(points.values[np.newaxis], bucket_starts(len(points)))
    columns = {name: rows[0] for name, rows in own.items()}
    return codec.encode_overview(columns, points.values)


def overview_faults(
    row: SeriesChunk, ticks: Ticks | None, whole: Buckets, points: Points
) -> Iterator[str]:
    """Yield differences between drawing buckets and points; raise Damaged if
    unreadable.
    """
    if row.count <= BUCKET_POINTS and not row.overview:
        return
    # Without the overview stored with the ticks, which is checked separately.
    shared = ticks_overview(ticks) if ticks else None
    buckets = codec.decode_overview(row.overview, shared)
    merged: dict[str, Any] = {
        "count": buckets.count.sum(),
        "finite_count": buckets.finite_count.sum(),
        "minimum": _least(buckets.minimum),
        "maximum": -_least(-buckets.maximum),
        "total": buckets.total.sum(),
        "first_step": buckets.first_step.min(),
        "last_step": buckets.last_step.max(),
        "first_time": buckets.first_time.min(),
        "last_time": buckets.last_time.max(),
    }
    for name, number in merged.items():
        found = getattr(whole, name)[0].item()
        if not _is_same(name, number.item(), found, points):
            yield f"{name} is {number.item()} in its drawing buckets and {found} in its points"


def _least(values: NDArray[np.float64]) -> np.float64:
    known = values[~np.isnan(values)]
    return known.min() if len(known) else np.float64("nan")


def _is_same(name: str, stored: float, found: float, points: Points) -> bool:
    if stored == found or (stored != stored and found != found):  # noqa: PLR0124 - NaN
        return True
    if name != "total":
        return False
    finite = points.values[np.isfinite(points.values)]
    with np.errstate(over="ignore"):
        magnitude = float(np.abs(finite).sum())
    return magnitude == float("inf") or abs(stored - found) <= TOLERANCE * magnitude
