"""Joins small chunks of records to larger ones.

Small chunks come one a batch. Sixteen of a level become one of the next, so that each
record is written three or four times until its chunk is full, however long the series
becomes. After the run, whatever is left is joined.

A pass reads without holding anything, then writes in one short transaction, which
succeeds only if all it replaces is still there. So it may be repeated, doubled or
killed at any point.
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

# What one pass takes on, which bounds its memory and its transaction.
PASS_CHUNKS = 500
PASS_BYTES = 32 * 1024 * 1024
# Levels that chunks rise through, and so passes of one call.
MAX_PASSES = 8
# Chunks that one call replaces, about; more would outlast a worker's lease.
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
    """Join what is small; return how many chunks were replaced.

    Where these are MAX_REPLACED or more, others may be left.
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
    """Yield neighbours to be joined: of one level, or, after the run, of any."""
    series: dict[int, list[Open]] = defaultdict(list)
    rows = RecordChunk.objects.filter(run_id=run_id, level__lt=FULL_LEVEL)
    fields = ("id", "series_id", "first", "count", "value_bytes", "level")
    for row in rows.order_by("series_id", "first").values_list(*fields):
        series[row[1]].append(Open(*row))
    for chunks in series.values():
        for some, is_walled_in in _neighbours(chunks, same_level=least == FAN_IN):
            if is_walled_in and len(some) == 1:
                # Between full ones, it will never have a neighbour.
                _leave(run_id, [some[0].id])
            elif len(some) >= (2 if is_walled_in else least):
                yield from _portions(some)


def _neighbours(
    chunks: Sequence[Open], *, same_level: bool
) -> Iterator[tuple[list[Open], bool]]:
    """Yield chunks that follow each other, and whether others stand before what comes."""
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
    """Never join these."""
    with transaction.atomic():
        by_id(RecordChunk, {run_id}, ids).update(level=FULL_LEVEL)


def _portions(chunks: Sequence[Open]) -> Iterator[list[Open]]:
    """Yield as many at a time as one pass takes on."""
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
    """Replace chunks by fewer; return how many were replaced."""
    records = _read(run_id, chunks)
    if records is None or not _put(run_id, chunks, records):
        return 0
    return len(chunks)


def _read(run_id: UUID, chunks: Sequence[Open]) -> Records | None:
    """Read chunks as one; None where they are not all there any more, or damaged."""
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
    """Put records in the place of their chunks; False if these are there no more."""
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
    # Chunks never change: those that are still there are those that were read. Locked
    # in order, so that two passes wait for each other and never deadlock.
    old = by_id(RecordChunk, {run_id}, ids)
    if list(old.select_for_update().order_by("id").values_list("id", flat=True)) != ids:
        raise Overtaken("another worker joined these chunks")
    old.delete()
    insert(rows)
