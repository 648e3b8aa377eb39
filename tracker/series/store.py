"""Reads chunks: their rows, their drawing buckets and their points.

Chunk rows never change: compaction writes new ones and deletes the old ones and their
journal rows in one transaction. So a reader needs no lock and no transaction; it
retries if a row is gone (see tails.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import groupby
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Model, QuerySet

from tracker.models import JournalEntry, SeriesChunk, SeriesTicks
from tracker.series import codec
from tracker.series.columns import Damaged
from tracker.series.downsample import Buckets, summarize
from tracker.series.points import Floats, Integers, Points
from tracker.server.caches import Memory
from tracker.server.statements import every_row, many

logger = logging.getLogger(__name__)

# Ids per statement; SQLite's default limit is 32,766.
IDS_IN_A_STATEMENT = 1_000

# Cache of overviews per process, for zooming and repeated views.
MAX_OVERVIEW_BYTES = 16 * 1024 * 1024
# Memory of a drawing bucket, and of an overview besides its buckets.
BUCKET_BYTES, OVERVIEW_BYTES = 72, 1_500

# Runs for every chart; the ORM would take longer to build this statement than the
# database to execute it.
SELECT_SUMMARIES = (
    f"SELECT series_id, id, checksum, {', '.join(field.name for field in fields(Buckets))}"
    " FROM tracker_serieschunk WHERE run_id IN ({runs}) AND series_id = ANY(%s)"
    " ORDER BY series_id, first_step, id"
)

Item = TypeVar("Item")
Row = TypeVar("Row", bound=Model)
Result = TypeVar("Result")
# PostgreSQL returns the one, SQLite the other.
Stored = bytes | memoryview


# By chunk id, only intact ones; ids are never reused.
_overviews: Memory[int, Buckets] = Memory(MAX_OVERVIEW_BYTES)


class Overtaken(Exception):
    """Compaction replaced rows that were being read or written; retry."""


@dataclass(frozen=True, slots=True, eq=False)
class Summaries:
    """The chunks of one series, each summarized as one bucket."""

    ids: list[int]
    buckets: Buckets


def undamaged(
    decode: Callable[[Stored], Result], data: Stored, name: str
) -> Result | None:
    """Decode stored bytes; log and return None if they are damaged."""
    try:
        return decode(data)
    except Damaged as error:
        logger.error("%s is damaged and left out: %s", name, error)  # noqa: TRY400
        return None


def read_summaries(
    run_ids: Collection[UUID], series_ids: Collection[int]
) -> dict[int, Summaries]:
    """Return the summaries of all chunks of each series that has any."""
    rows = every_row(SELECT_SUMMARIES, [many(series_ids)], run_ids=run_ids)
    if not rows:
        return {}
    # All columns at once: a chart of many series has few chunks of each.
    of_series, ids, checksums, *columns = zip(*rows, strict=True)
    # None, stored for NaN, becomes NaN again.
    arrays: dict[str, Any] = {
        field.name: np.array(column, codec.dtype_of(field.name))
        for field, column in zip(fields(Buckets), columns, strict=True)
    }
    if lost := _make_anew(run_ids, ids, checksums, arrays):
        left = [place for place in range(len(ids)) if place not in lost]
        of_series = tuple(of_series[place] for place in left)
        ids = tuple(ids[place] for place in left)
        arrays = {name: array[left] for name, array in arrays.items()}
    found: dict[int, Summaries] = {}
    start = 0
    for series_id, group in groupby(of_series):
        part = slice(start, start + sum(1 for _ in group))
        buckets = Buckets(**{name: array[part] for name, array in arrays.items()})
        found[series_id] = Summaries(list(ids[part]), buckets)
        start = part.stop
    return found


# Any: columns of numbers of either kind.
def _make_anew(
    run_ids: Collection[UUID],
    ids: Sequence[int],
    checksums: Sequence[int | None],
    arrays: dict[str, Any],
) -> set[int]:
    """Replace damaged rows with values computed from their points.

    Return the indices of those whose points are damaged, too.
    """
    # Rows of earlier versions have no checksum.
    stored = np.array(checksums, np.float64)
    is_wrong = stored != codec.row_checksums(Buckets(**arrays))
    lost = set()
    for place in np.flatnonzero(is_wrong & ~np.isnan(stored)).tolist():
        chunk_id = ids[place]
        logger.error("row of chunk %s is damaged and made anew", chunk_id)
        points = read_chunks(run_ids, [chunk_id]).get(chunk_id)
        if points is None:
            lost.add(place)
            continue
        whole = summarize(points, size=len(points))
        for name, array in arrays.items():
            array[place] = getattr(whole, name)[0]
    return lost


def read_chunks(run_ids: Collection[UUID], ids: Collection[int]) -> dict[int, Points]:
    """Return the points of chunks, without those that are damaged."""
    found: dict[int, Points] = {}
    for some in batches(list(ids)):
        rows = rows_by_id(SeriesChunk, run_ids, some, "ticks_id", "data")
        if len(rows) < len(some):
            raise Overtaken
        ticks = _read_ticks(run_ids, rows)
        for chunk_id, ticks_id, data in rows:
            decode = partial(codec.decode, ticks=ticks.get(ticks_id))
            points = undamaged(decode, data, f"chunk {chunk_id}")
            if points is not None:
                found[chunk_id] = points
    return found


def read_overviews(
    run_ids: Collection[UUID], ids: Collection[int]
) -> dict[int, Buckets]:
    """Return the drawing buckets of chunks, recomputed from points if damaged."""
    # A rolled-back transaction releases its chunk ids for reuse.
    is_final = not connection.in_atomic_block
    found = _remembered(ids) if is_final else {}
    damaged: list[int] = []
    for some in batches([i for i in ids if i not in found]):
        rows = rows_by_id(SeriesChunk, run_ids, some, "ticks_id", "overview")
        if len(rows) < len(some):
            raise Overtaken
        ticks = _read_ticks_overviews(run_ids, rows)
        for chunk_id, ticks_id, data in rows:
            decode = partial(codec.decode_overview, ticks=ticks.get(ticks_id))
            buckets = undamaged(decode, data, f"overview of chunk {chunk_id}")
            if buckets is None:
                damaged.append(chunk_id)
            else:
                found[chunk_id] = buckets
                if is_final:
                    weight = OVERVIEW_BYTES + BUCKET_BYTES * len(buckets)
                    _overviews.remember(chunk_id, buckets, weight)
    for chunk_id, points in read_chunks(run_ids, damaged).items():
        found[chunk_id] = summarize(points)
    return found


def _remembered(ids: Collection[int]) -> dict[int, Buckets]:
    return {i: known for i in ids if (known := _overviews.get(i)) is not None}


def _read_ticks(
    run_ids: Collection[UUID], chunks: Sequence[tuple[Any, ...]]
) -> dict[int | None, tuple[Floats, Integers]]:
    return {
        ticks_id: ticks
        for ticks_id, data in _rows_of_ticks(run_ids, chunks, "data")
        if (ticks := undamaged(codec.decode_ticks, data, f"ticks {ticks_id}"))
    }


def _read_ticks_overviews(
    run_ids: Collection[UUID], chunks: Sequence[tuple[Any, ...]]
) -> dict[int | None, codec.Columns]:
    decode = codec.decode_ticks_overview
    return {
        ticks_id: ticks
        for ticks_id, data in _rows_of_ticks(run_ids, chunks, "overview")
        if (ticks := undamaged(decode, data, f"overview of ticks {ticks_id}"))
    }


def _rows_of_ticks(
    run_ids: Collection[UUID], chunks: Sequence[tuple[Any, ...]], column: str
) -> list[tuple[Any, ...]]:
    """Read a column of the ticks of chunk rows."""
    ids = {ticks_id for _, ticks_id, _ in chunks} - {None}
    rows = rows_by_id(SeriesTicks, run_ids, ids, column)
    if len(rows) < len(ids):
        # Deleted with their chunks, or damaged if only they are missing.
        _expect_still_there(run_ids, [chunk_id for chunk_id, _, _ in chunks])
    return rows


# Any: column values.
def rows_by_id(
    model: type[JournalEntry | SeriesChunk | SeriesTicks],
    run_ids: Collection[UUID],
    ids: Collection[int],
    *columns: str,
) -> list[tuple[Any, ...]]:
    """Read columns of the existing rows, after their ids."""
    if not ids:
        return []
    table = model._meta.db_table  # noqa: SLF001 - Django's API
    by_run = "run_id IN ({runs}) AND " if names_runs() else ""
    statement = (
        f"SELECT id, {', '.join(columns)} FROM {table} WHERE {by_run}id = ANY(%s)"
    )
    return every_row(statement, [many(ids)], run_ids=run_ids)


def by_id(
    model: type[Row], run_ids: Collection[UUID], ids: Collection[int]
) -> QuerySet[Row]:
    """Select rows by id, and on PostgreSQL by partition."""
    rows = model._default_manager.filter(id__in=ids)  # noqa: SLF001 - Django's API
    return rows.filter(run_id__in=run_ids) if names_runs() else rows


def names_runs() -> bool:
    """Return whether statements by id should also name the runs.

    PostgreSQL then reads few partitions; SQLite would scan all rows of the runs.
    """
    return connection.vendor == "postgresql"


def _expect_still_there(run_ids: Collection[UUID], chunk_ids: Collection[int]) -> None:
    """Raise Overtaken if chunks were replaced while their ticks were read."""
    if by_id(SeriesChunk, run_ids, chunk_ids).count() < len(chunk_ids):
        raise Overtaken


def batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), IDS_IN_A_STATEMENT):
        yield items[start : start + IDS_IN_A_STATEMENT]
