"""Stores records, and reads them by position.

A record's position is the number of earlier records of its series. It never changes
when chunks are joined, so readers need no lock and no transaction: they query the chunk
with the next position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

import numpy as np
from django.utils import timezone

from tracker.models import Attribute, Kind
from tracker.models.records import FULL_LEVEL
from tracker.records import codec
from tracker.records.nearest import ChunkSteps
from tracker.records.record import Records, pieces
from tracker.series.store import undamaged
from tracker.series.writer_rows import find_changes_of, note_writers
from tracker.series.writers import Logged
from tracker.server.statements import carry_out_many, every_row, key, many, moment

# This many chunks of a series and level are joined to one of the next level.
FAN_IN = 16
# Characters of the last record stored in the series' row.
SHOWN_CHARACTERS = 1_000
# Chunks per read statement, each up to CHUNK_BYTES when decompressed.
CHUNKS_AT_ONCE = 8

CHUNK_COLUMNS = (
    *("run_id", "series_id", "first", "count", "first_step", "last_step"),
    *("first_time", "last_time", "value_bytes", "level", "data"),
)
INSERT_CHUNK = (
    f"INSERT INTO tracker_recordchunk ({', '.join(CHUNK_COLUMNS)})"
    f" VALUES ({', '.join(['%s'] * len(CHUNK_COLUMNS))})"
)
UPDATE_SERIES = (
    "UPDATE tracker_attribute SET updated_at = %s, count = %s, first_step = %s,"
    " last_step = %s, first_time = %s, last_time = %s, text = %s"
    " WHERE run_id = %s AND id = %s"
)
SELECT_RIPE = (
    "SELECT series_id FROM tracker_recordchunk WHERE run_id IN ({runs})"
    f" AND level < {FULL_LEVEL} AND series_id = ANY(%s)"
    f" GROUP BY series_id, level HAVING COUNT(*) >= {FAN_IN} LIMIT 1"
)
SELECT_CHUNKS = (
    "SELECT id, first, count, data FROM tracker_recordchunk WHERE run_id IN ({runs})"
    " AND series_id = %s AND first + count > %s AND first < %s"
    " ORDER BY first LIMIT %s"
)
SELECT_ROOMS = (
    "SELECT first, count, first_step, last_step, first_time, last_time"
    " FROM tracker_recordchunk WHERE run_id IN ({runs}) AND series_id = %s"
    " AND first + count > %s AND first < %s ORDER BY first"
)
# For series of several runs: the ranges of chunks that start at or before a step, and
# chunks by id.
SELECT_STEPS = (
    "SELECT series_id, id, first, first_step, last_step FROM tracker_recordchunk"
    " WHERE run_id IN ({runs}) AND series_id = ANY(%s) AND first_step <= %s"
)
SELECT_THOSE = (
    "SELECT series_id, id, first, count, data FROM tracker_recordchunk"
    " WHERE run_id IN ({runs}) AND id = ANY(%s) ORDER BY first"
)

# The values of CHUNK_COLUMNS.
ChunkRow: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Room:
    """The positions, steps and times of a chunk's records."""

    first: int
    count: int
    first_step: float
    last_step: float
    first_time: int
    last_time: int


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Consecutive records of a series, and the position of the first."""

    first: int
    records: Records


def add_records(run_id: UUID, new: Mapping[int, Records], spool: UUID | None) -> bool:
    """Add records to series of a run; return whether to join chunks now.

    Call in the transaction of their batch; `spool` is None for records that were copied
    from another run. The series rows are locked in order of their paths, like those of
    values.
    """
    rows = (
        Attribute.objects.select_for_update(no_key=True)
        .filter(run_id=run_id, id__in=list(new))
        .order_by("path")
    )
    series = {row.pk: row for row in rows if len(new[row.pk])}
    # Before the rows include these records.
    logged = [
        Logged(key(spool), np.array([series_id]), new[series_id].times.max().item())
        for series_id in series
        if spool is not None
    ]
    changes = find_changes_of(series.values(), run_id, logged)
    chunks: list[ChunkRow] = []
    for series_id, row in series.items():
        records = new[series_id]
        chunks += chunk_rows(run_id, series_id, row.count, records)
        _add_to_summary(row, records)
    insert(chunks)
    now, run = moment(timezone.now()), key(run_id)
    carry_out_many(
        UPDATE_SERIES,
        [
            (
                *(now, row.count, row.first_step, row.last_step),
                *(row.first_time, row.last_time, row.text, run, row.pk),
            )
            for row in series.values()
        ],
    )
    note_writers(run_id, changes)
    if not series:
        return False
    return bool(every_row(SELECT_RIPE, [many(series)], run_ids={run_id}))


def chunk_rows(
    run_id: UUID, series_id: int, first: int, records: Records, level: int = 0
) -> list[ChunkRow]:
    """Encode records as chunks; those that are full enough are never joined again."""
    rows: list[ChunkRow] = []
    for piece in pieces(
        records, most=codec.CHUNK_RECORDS, most_bytes=codec.CHUNK_BYTES
    ):
        is_full = 2 * len(piece) > codec.CHUNK_RECORDS
        is_full = is_full or 2 * len(piece.values) > codec.CHUNK_BYTES
        rows.append(
            (
                *(key(run_id), series_id, first, len(piece)),
                *(piece.steps.min().item() + 0.0, piece.steps.max().item() + 0.0),
                *(piece.times.min().item(), piece.times.max().item()),
                *(len(piece.values), FULL_LEVEL if is_full else level),
                codec.encode(piece, is_dense=level > 0),
            )
        )
        first += len(piece)
    return rows


def insert(rows: Sequence[ChunkRow]) -> None:
    """Insert chunks; requires a transaction."""
    carry_out_many(INSERT_CHUNK, rows)


def read_parts(
    run_id: UUID, series_id: int, first: int, end: int, *, at_once: int = CHUNKS_AT_ONCE
) -> Iterator[Part]:
    """Yield the records at positions from `first` to before `end`, in order.

    Unreadable chunks are skipped.
    """
    while first < end:
        rows = every_row(
            SELECT_CHUNKS, [series_id, first, end, at_once], run_ids={run_id}
        )
        for chunk_id, chunk_first, count, data in rows:
            low, high = max(first - chunk_first, 0), min(end - chunk_first, count)
            first = chunk_first + count
            name = f"chunk {chunk_id} of records"
            records = undamaged(codec.decode, data, name)
            if records is not None and len(records) == count and low < high:
                yield Part(chunk_first + low, records[low:high])
        if len(rows) < at_once:
            return


def read_rooms(run_id: UUID, series_id: int, first: int, end: int) -> list[Room]:
    """Return the ranges of the chunks with these positions, without reading them."""
    rows = every_row(SELECT_ROOMS, [series_id, first, end], run_ids={run_id})
    return [Room(*row) for row in rows]


def read_chunk_steps(
    run_ids: Collection[UUID], series_ids: Collection[int], step: float
) -> dict[int, list[ChunkSteps]]:
    """Return, by series, the chunks that start at or before a step, without their data."""
    found: dict[int, list[ChunkSteps]] = {}
    rows = every_row(SELECT_STEPS, [many(series_ids), step], run_ids=run_ids)
    for series_id, *columns in rows:
        found.setdefault(series_id, []).append(ChunkSteps(*columns))
    return found


def read_chunks(
    run_ids: Collection[UUID], chunk_ids: Collection[int]
) -> Iterator[tuple[int, Records]]:
    """Yield chunks with their series, in order of arrival within a series.

    Unreadable chunks are skipped.
    """
    rows = every_row(SELECT_THOSE, [many(chunk_ids)], run_ids=run_ids)
    for series_id, chunk_id, _, count, data in rows:
        records = undamaged(codec.decode, data, f"chunk {chunk_id} of records")
        if records is not None and len(records) == count:
            yield series_id, records


def shown(value: bytes) -> str:
    """Return the beginning of a text in storable form."""
    text = value[: 4 * SHOWN_CHARACTERS].decode(errors="ignore")[:SHOWN_CHARACTERS]
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _add_to_summary(row: Attribute, records: Records) -> None:
    row.count += len(records)
    steps = [records.steps.min().item() + 0.0, records.steps.max().item() + 0.0]
    times = [records.times.min().item(), records.times.max().item()]
    if row.first_step is not None and row.last_step is not None:
        steps += [row.first_step, row.last_step]
    if row.first_time is not None and row.last_time is not None:
        times += [row.first_time, row.last_time]
    row.first_step, row.last_step = min(steps), max(steps)
    row.first_time, row.last_time = min(times), max(times)
    row.text = shown(records[-1:].values) if row.kind == Kind.TEXT_SERIES else None
