"""Repairs damage where no data is lost or invented.

Each repair checks again in a transaction, so it may run late or twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID

import numpy as np
from django.db import transaction

from tracker.actions.runs.run_summaries import (
    EVERY_SOURCE,
    HARDWARE,
    gather,
    is_summary_current,
)
from tracker.integrity.problem import Problem, Repair
from tracker.integrity.rows import (
    ROW_NUMBERS,
    Ticks,
    chunk_faults,
    chunk_overview,
    ends_of,
    is_row_damaged,
    make_row_anew,
    overview_faults,
    read_chunk,
    read_entry,
    read_ticks,
    ticks_overview,
    ticks_overview_faults,
)
from tracker.integrity.series import NAMES, Whole
from tracker.models import Attribute, JournalEntry, SeriesChunk, SeriesTicks
from tracker.series import codec
from tracker.series.columns import Damaged
from tracker.series.rows import stored


def repair(problem: Problem) -> bool:
    """Repair the problem; return whether anything was changed."""
    if problem.repair is None or problem.run_id is None:
        return False
    with transaction.atomic():
        return REPAIRS[problem.repair](problem.run_id, problem.row_id)


def _count_chunks(run_id: UUID, ticks_id: int) -> bool:
    rows = SeriesTicks.objects.filter(run_id=run_id, id=ticks_id)
    if rows.select_for_update().first() is None:
        return False  # compaction deleted the row
    count = SeriesChunk.objects.filter(run_id=run_id, ticks_id=ticks_id).count()
    if not count:
        rows.delete()  # compaction also deletes ticks without chunks
        return True
    return bool(rows.exclude(chunk_count=count).update(chunk_count=count))


def _summarize(run_id: UUID, series_id: int) -> bool:
    # Compaction updates this row last, so the slower of the two sees the other's
    # change.
    rows = Attribute.objects.filter(run_id=run_id, id=series_id)
    row = rows.select_for_update().first()
    if row is None:
        return False
    whole, last = _whole(run_id, series_id)
    for name in (*NAMES, "total"):
        setattr(row, name, getattr(whole, name))
    if last is not None:
        row.number, row.is_nan = stored(last), last != last  # noqa: PLR0124 - NaN
    row.save(update_fields=[*NAMES, "total", "number", "is_nan", "updated_at"])
    gather([run_id], HARDWARE)
    return True


def _update_summary(run_id: UUID, _: int) -> bool:
    if is_summary_current(run_id):
        return False  # a concurrent change has updated it
    gather([run_id], *EVERY_SOURCE)
    return True


def _whole(run_id: UUID, series_id: int) -> tuple[Whole, np.float64 | None]:
    """Return the sum of the chunks, and the value at the highest step."""
    whole, last, best = Whole(), None, None
    chunks = SeriesChunk.objects.filter(run_id=run_id, series_id=series_id)
    for chunk in chunks.order_by("first_step", "id").iterator(chunk_size=100):
        try:
            points, bucket = read_chunk(chunk, _ticks_of(chunk))
        except Damaged:
            whole.add_row(chunk)
            continue
        if is_row_damaged(chunk):
            make_row_anew(chunk, bucket)
        whole.add_row(chunk)
        end = points.sorted_by_step()[-1:]
        place = (end.steps[0], end.times[0])
        if best is None or place >= best:
            best, last = place, end.values[0]
    return whole, last


def _ticks_of(chunk: SeriesChunk) -> Ticks | None:
    if chunk.ticks_id is None:
        return None
    row = SeriesTicks.objects.filter(run_id=chunk.run_id, id=chunk.ticks_id).first()
    return read_ticks(row) if row else None


def _write_row(run_id: UUID, chunk_id: int) -> bool:
    rows = SeriesChunk.objects.filter(run_id=run_id, id=chunk_id)
    chunk = rows.select_for_update().first()
    if chunk is None or not is_row_damaged(chunk):
        return False  # compaction replaced it, or the repair runs twice
    try:
        _, bucket = read_chunk(chunk, _ticks_of(chunk))
    except Damaged:
        return False
    make_row_anew(chunk, bucket)
    chunk.save(update_fields=[*ROW_NUMBERS, "checksum"])
    return True


def _draw_chunk(run_id: UUID, chunk_id: int) -> bool:
    rows = SeriesChunk.objects.filter(run_id=run_id, id=chunk_id)
    chunk = rows.select_for_update().first()
    if chunk is None:
        return False  # compaction replaced it
    ticks = _ticks_of(chunk)
    try:
        points, bucket = read_chunk(chunk, ticks)
    except Damaged:
        return False
    is_another = any(chunk_faults(chunk, bucket, points))
    if is_another or _are_right(overview_faults(chunk, ticks, bucket, points)):
        return False
    overview = chunk_overview(points, has_ticks=chunk.ticks_id is not None)
    return bool(rows.update(overview=overview))


def _draw_ticks(run_id: UUID, ticks_id: int) -> bool:
    rows = SeriesTicks.objects.filter(run_id=run_id, id=ticks_id)
    row = rows.select_for_update().first()
    ticks = read_ticks(row) if row else None
    if row is None or ticks is None or _are_right(ticks_overview_faults(row, ticks)):
        return False
    chunks = SeriesChunk.objects.filter(run_id=run_id, ticks_id=ticks_id)
    stored = set(chunks.values_list(*codec.TICK_COLUMNS))
    if stored - {ends_of(ticks)}:
        return False  # these may be the ticks of other chunks
    overview = codec.encode_ticks_overview(ticks_overview(ticks))
    return bool(rows.update(overview=overview))


def _are_right(faults: Iterator[str]) -> bool:
    try:
        return not any(faults)
    except Damaged:
        return False


def _set_aside(run_id: UUID, entry_id: int) -> bool:
    rows = JournalEntry.objects.filter(run_id=run_id, id=entry_id, is_damaged=False)
    entry = rows.select_for_update().first()
    if entry is None:
        return False
    try:
        read_entry(entry)
    except Damaged:
        return bool(rows.update(is_damaged=True))
    return False


REPAIRS: dict[Repair, Callable[[UUID, int], bool]] = {
    Repair.CHUNK_COUNT: _count_chunks,
    Repair.SUMMARY: _summarize,
    Repair.ROW: _write_row,
    Repair.OVERVIEW: _draw_chunk,
    Repair.TICKS_OVERVIEW: _draw_ticks,
    Repair.RUN_SUMMARY: _update_summary,
    Repair.ENTRY: _set_aside,
}
