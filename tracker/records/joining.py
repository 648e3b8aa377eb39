"""Joins small chunks of records to larger ones.

Each batch adds a small chunk. Sixteen of a level become one of the next, so that each
record is rewritten three or four times until its chunk is full, however long the series
becomes. After the run, all remaining chunks are joined.

A pass reads without locks, then writes in one short transaction, which succeeds only if
all replaced chunks still exist. So a pass may be repeated, run twice or be killed at
any point.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction

from tracker.models import RecordChunk, Run, State
from tracker.models.records import FULL_LEVEL
from tracker.records import codec
from tracker.records.record import Records, one_after_the_other
from tracker.records.store import FAN_IN, ChunkRow, chunk_rows, insert
from tracker.series.store import Overtaken, by_id, undamaged

logger = logging.getLogger(__name__)

# Limits of one pass, which bound its memory and its transaction.
PASS_CHUNKS = 500
PASS_BYTES = 32 * 1024 * 1024
# Number of levels, and so of passes per call.
MAX_PASSES = 8
# Approximate number of chunks replaced per call, within a worker's lease.
MAX_REPLACED = 10_000


@dataclass(frozen=True, slots=True)
class Open:
    """A chunk that may be joined."""

    id: int
    series_id: int
    first: int
    count: int
    size: int
    level: int


def join_records(run_id: UUID) -> int:
    """Join small chunks; return the number of replaced chunks.

    If it is MAX_REPLACED or more, others may remain.
    """
    is_running = Run.objects.filter(id=run_id, state=State.RUNNING).exists()
    replaced = 0
    for _ in range(MAX_PASSES):
        groups = list(_joinable(run_id, least=FAN_IN if is_running else 2))
        for group in groups:
            replaced += _join(run_id, group)
            if replaced >= MAX_REPLACED:
                return replaced
        if not groups or not is_running:
            break
    return replaced


def _joinable(run_id: UUID, *, least: int) -> Iterator[list[Open]]:
    """Yield adjacent chunks to join: of one level, or of any level after the run."""
    series: dict[int, list[Open]] = defaultdict(list)
    rows = RecordChunk.objects.filter(run_id=run_id, level__lt=FULL_LEVEL)
    fields = ("id", "series_id", "first", "count", "value_bytes", "level")
    for row in rows.order_by("series_id", "first").values_list(*fields):
        series[row[1]].append(Open(*row))
    for chunks in series.values():
        for some, is_walled_in in _neighbors(chunks, same_level=least == FAN_IN):
            if is_walled_in and len(some) == 1:
                # Between full chunks, it will never have a neighbor.
                _leave(run_id, [some[0].id])
            elif len(some) >= (2 if is_walled_in else least):
                yield from _portions(some)


def _neighbors(
    chunks: Sequence[Open], *, same_level: bool
) -> Iterator[tuple[list[Open], bool]]:
    """Yield groups of adjacent chunks, and whether a gap follows each group."""
    group: list[Open] = []
    for chunk in chunks:
        last = group[-1] if group else None
        is_gap = last is not None and last.first + last.count != chunk.first
        if last and (is_gap or (same_level and last.level != chunk.level)):
            yield group, is_gap
            group = []
        group.append(chunk)
    if group:
        yield group, False


def _leave(run_id: UUID, ids: Sequence[int]) -> None:
    """Exclude these chunks from joining."""
    with transaction.atomic():
        by_id(RecordChunk, {run_id}, ids).update(level=FULL_LEVEL)


def _portions(chunks: Sequence[Open]) -> Iterator[list[Open]]:
    """Yield groups of chunks within the limits of one pass."""
    portion: list[Open] = []
    size = 0
    for chunk in chunks:
        if len(portion) >= PASS_CHUNKS or size + chunk.size > PASS_BYTES:
            yield portion
            portion, size = [], 0
        portion.append(chunk)
        size += chunk.size
    if len(portion) > 1:
        yield portion


def _join(run_id: UUID, chunks: Sequence[Open]) -> int:
    """Replace chunks with fewer ones; return the number of replaced chunks."""
    records = _read(run_id, chunks)
    if records is None or not _put(run_id, chunks, records):
        return 0
    return len(chunks)


def _read(run_id: UUID, chunks: Sequence[Open]) -> Records | None:
    """Read chunks as one; return None if any is missing or damaged."""
    ids = [chunk.id for chunk in chunks]
    data = dict(by_id(RecordChunk, {run_id}, ids).values_list("id", "data"))
    if len(data) != len(ids):
        return None  # another worker joined these chunks
    parts: list[Records] = []
    damaged: list[int] = []
    for chunk in chunks:
        name = f"chunk {chunk.id} of records"
        records = undamaged(codec.decode, data[chunk.id], name)
        if records is None or len(records) != chunk.count:
            damaged.append(chunk.id)
        else:
            parts.append(records)
    if damaged:
        # The others are joined without them the next time.
        _leave(run_id, damaged)
        return None
    return one_after_the_other(parts)


def _put(run_id: UUID, chunks: Sequence[Open], records: Records) -> bool:
    """Replace chunks with these records; return False if any chunk is missing."""
    first, level = chunks[0], min(max(c.level for c in chunks) + 1, FULL_LEVEL - 1)
    rows = chunk_rows(run_id, first.series_id, first.first, records, level)
    ids = sorted(chunk.id for chunk in chunks)
    try:
        with transaction.atomic():
            _replace(run_id, ids, rows)
    except (Overtaken, IntegrityError) as error:
        logger.info("joining starts again: %r", error)
        return False
    return True


def _replace(run_id: UUID, ids: list[int], rows: Sequence[ChunkRow]) -> None:
    # Chunks never change, so existing ones equal those that were read. Locked in order,
    # so that two passes cannot deadlock.
    old = by_id(RecordChunk, {run_id}, ids)
    if list(old.select_for_update().order_by("id").values_list("id", flat=True)) != ids:
        raise Overtaken("another worker joined these chunks")
    old.delete()
    insert(rows)
