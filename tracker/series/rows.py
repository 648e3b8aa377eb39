"""Converts tables to rows: ticks and their chunks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from tracker.models import SeriesChunk, SeriesTicks
from tracker.series import codec
from tracker.series.codec import CHUNK_POINTS, FULL_POINTS
from tracker.series.downsample import (
    BUCKET_POINTS,
    Buckets,
    bucket_starts,
    summarize_rows,
    summarize_ticks,
)
from tracker.series.points import Floats
from tracker.series.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class NewChunks:
    """Chunks of the same ticks, not yet in the database."""

    ticks: SeriesTicks
    chunks: list[SeriesChunk]


def make_chunks(run_id: UUID, table: Table) -> Iterator[NewChunks]:
    """Split a table into chunks of about equal length, in order of step.

    All of them are full, or a single one is open.
    """
    for part in table.sorted_by_step().cut(chunk_length(table.tick_count)):
        yield _make_chunks(run_id, part)


def chunk_length(tick_count: int) -> int:
    """Return the length of all but the last of the fewest possible chunks."""
    chunk_count = max(1, math.ceil(tick_count / CHUNK_POINTS))
    return max(1, math.ceil(tick_count / chunk_count))


def _make_chunks(run_id: UUID, table: Table) -> NewChunks:
    # With a single drawing bucket, the chunk's row has the same information.
    has_overview = table.tick_count > BUCKET_POINTS
    starts = bucket_starts(table.tick_count)
    shared = summarize_ticks(table.steps, table.times, starts)
    own = summarize_rows(table.values, starts)
    ticks = SeriesTicks(
        run_id=run_id,
        chunk_count=len(table.series_ids),
        data=codec.encode_ticks(table.steps, table.times),
        overview=codec.encode_ticks_overview(shared) if has_overview else b"",
    )
    ends = {
        "count": table.tick_count,
        "first_step": shared["first_step"].min().item() + 0.0,
        "last_step": shared["last_step"].max().item() + 0.0,
        "first_time": shared["first_time"].min().item(),
        "last_time": shared["last_time"].max().item(),
        "is_open": table.tick_count < FULL_POINTS,
    }
    whole = summarize_rows(table.values, bucket_starts(1))
    chunks = [
        SeriesChunk(
            run_id=run_id,
            series_id=series_id,
            data=codec.encode(table.values[row]),
            overview=_overview(own, row, table.values[row]) if has_overview else b"",
            finite_count=whole["finite_count"][row, 0].item(),
            minimum=stored(whole["minimum"][row, 0]),
            maximum=stored(whole["maximum"][row, 0]),
            total=whole["total"][row, 0].item() + 0.0,
            **ends,
        )
        for row, series_id in enumerate(table.series_ids.tolist())
    ]
    for chunk, checksum in zip(chunks, checksums_of(chunks), strict=True):
        chunk.checksum = checksum
    return NewChunks(ticks, chunks)


def checksums_of(rows: Sequence[SeriesChunk]) -> list[int]:
    """Return the checksums of chunk rows."""
    columns: dict[str, Any] = {
        field.name: np.array(
            [getattr(row, field.name) for row in rows], codec.dtype_of(field.name)
        )
        for field in fields(Buckets)
    }
    checksums: list[int] = codec.row_checksums(Buckets(**columns)).tolist()
    return checksums


def _overview(columns: dict[str, NDArray[Any]], row: int, values: Floats) -> bytes:
    its_own = {name: many[row] for name, many in columns.items()}
    return codec.encode_overview(its_own, values)


def stored(number: np.float64) -> float | None:
    """Return a column's value: None for NaN, which SQLite cannot store.

    It cannot store the sign of -0.0 either, which adding 0 removes on both databases.
    """
    return None if np.isnan(number) else number.item() + 0.0
