"""Moves points from the journal to chunks, and joins small chunks to larger ones.

A pass reads and encodes without locks, then writes in one short transaction, which
succeeds only if all replaced rows still exist. The slower of two passes starts again,
so a pass may be repeated, run twice or be killed at any point.

New points become new chunks, so that the cost of a pass depends on the new points only.
Chunks of a series that are not full are joined later.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar
from uuid import UUID

import numpy as np
from django.db import IntegrityError, transaction
from django.db.models import Count, F, Sum

from tracker.actions.runs.run_summaries import HARDWARE, gather
from tracker.models import (
    Attribute,
    JournalEntry,
    Kind,
    Run,
    SeriesChunk,
    SeriesTicks,
    State,
)
from tracker.series import journal
from tracker.series.points import Points
from tracker.series.rows import NewChunks, make_chunks
from tracker.series.store import (
    Overtaken,
    batches,
    by_id,
    read_chunks,
    undamaged,
)
from tracker.series.summary import Summary, add_to_summaries, summaries
from tracker.series.table import Table, disentangled, one_after_the_other, table_of
from tracker.series.writer_rows import find_changes, note_writers
from tracker.series.writers import Known, Logged
from tracker.server.statements import carry_out_many, key

logger = logging.getLogger(__name__)

# Limits of one pass, which bound its memory and its transaction.
PASS_POINTS = 1_000_000
PASS_ENTRIES = 500
# Chunks joined per transaction; for series with few points, rows dominate the cost.
JOINED_CHUNKS = 20_000
# Passes per call, within a worker's lease.
PASSES = 20
# A series with this many open chunks is joined. Fewer would rewrite points more often,
# more would make charts slower.
OPEN_CHUNKS = 8


CHUNK_COLUMNS = (
    "series_id",
    "count",
    "finite_count",
    "first_step",
    "last_step",
    "first_time",
    "last_time",
    "minimum",
    "maximum",
    "total",
    "checksum",
    "overview",
    "data",
    "is_open",
)
# A thousand series are a thousand rows, and the ORM copies each value several times.
INSERT_CHUNK = (
    f"INSERT INTO tracker_serieschunk (run_id, ticks_id, {', '.join(CHUNK_COLUMNS)})"
    f" VALUES (%s, %s, {', '.join(['%s'] * len(CHUNK_COLUMNS))})"
)

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The rows that one pass removes and adds."""

    run_id: UUID
    entry_ids: list[int]
    damaged_entry_ids: list[int]
    chunks: list[NewChunks]
    summaries: list[Summary]
    # Series whose rows need other writers.
    writers: dict[int, Known]


@dataclass(frozen=True, slots=True, eq=False)
class Merger:
    """Chunks to replace, and their replacements."""

    run_id: UUID
    # The number of replaced chunks per row of ticks.
    leaving: Counter[int]
    chunk_ids: list[int]
    damaged_chunk_ids: list[int]
    chunks: list[NewChunks]


def compact_run(run_id: UUID) -> int:
    """Compact the run's journal, or much of it; return the number of moved points."""
    moved = 0
    for _ in range(PASSES):
        plan = _make_plan(run_id)
        if plan is None:
            break
        if _is_done(_carry_out, plan):
            moved += sum(_point_count(new) for new in plan.chunks)
    merge_chunks(run_id)
    return moved


def needs_compaction(run_id: UUID) -> bool:
    return JournalEntry.objects.filter(run_id=run_id, is_damaged=False).exists()


def merge_chunks(run_id: UUID) -> None:
    """Join open chunks: several of a series, or any two after the run."""
    is_running = Run.objects.filter(id=run_id, state=State.RUNNING).exists()
    for series_ids in _mergeable(run_id, OPEN_CHUNKS if is_running else 2):
        try:
            merger = _make_merger(run_id, series_ids)
        except Overtaken:
            return  # another worker joins them
        _is_done(_replace, merger)


def _is_done(change: Callable[[Item], None], item: Item) -> bool:
    """Make a change in a transaction; return False after a concurrent change."""
    try:
        with transaction.atomic():
            change(item)
    except (Overtaken, IntegrityError) as error:
        logger.info("compaction starts again: %r", error)
        return False
    return True


def _point_count(new: NewChunks) -> int:
    return sum(chunk.count for chunk in new.chunks)


def _make_plan(run_id: UUID) -> Plan | None:
    entry_ids = _next_entry_ids(run_id)
    if not entry_ids:
        return None
    tables, logged, damaged = _read_entries(run_id, entry_ids)
    tables = _of_existing_series(run_id, disentangled(tables))
    return Plan(
        run_id,
        entry_ids,
        damaged,
        [new for table in tables for new in make_chunks(run_id, table)],
        [summary for table in tables for summary in summaries(table)],
        find_changes(run_id, logged),
    )


def _next_entry_ids(run_id: UUID) -> list[int]:
    """Return the oldest entries within the limits of a pass, at least one."""
    rows = list(
        JournalEntry.objects.filter(run_id=run_id, is_damaged=False)
        .order_by("id")
        .values_list("id", "point_count")[:PASS_ENTRIES]
    )
    reached = np.cumsum([count for _, count in rows])
    fitting = max(1, int(np.searchsorted(reached, PASS_POINTS, side="right")))
    return [entry_id for entry_id, _ in rows[:fitting]]


def _read_entries(
    run_id: UUID, entry_ids: Sequence[int]
) -> tuple[list[Table], list[Logged], list[int]]:
    """Return the tables, their processes, and the unreadable entries.

    Unreadable entries are set aside, or no later entry would be compacted.
    """
    tables: list[Table] = []
    logged: dict[tuple[UUID, bytes], Logged] = {}
    damaged: list[int] = []
    rows = by_id(JournalEntry, {run_id}, entry_ids).order_by("id")
    for entry_id, spool_id, data in rows.values_list("id", "spool_id", "data"):
        found = undamaged(journal.decode, data, f"journal entry {entry_id}")
        if found is None:
            damaged.append(entry_id)
        else:
            tables += found
            for table in found:
                _note_logged(logged, spool_id, table)
    return tables, [*logged.values()], damaged


def _note_logged(
    logged: dict[tuple[UUID, bytes], Logged], spool_id: UUID, table: Table
) -> None:
    """Record the last time at which a process logged to these series."""
    name = spool_id, table.series_ids.tobytes()
    last = table.times.max().item()
    if name in logged:
        last = max(last, logged[name].last_time)
    logged[name] = Logged(key(spool_id), table.series_ids, last)


def _of_existing_series(run_id: UUID, tables: Sequence[Table]) -> list[Table]:
    """Drop series that were deleted after their points arrived."""
    series_ids = sorted(key for table in tables for key in table.series_ids.tolist())
    found: set[int] = set()
    for ids in batches(series_ids):
        series = Attribute.objects.filter(
            run_id=run_id, kind=Kind.FLOAT_SERIES, id__in=ids
        )
        found.update(series.values_list("id", flat=True))
    if len(found) == len(series_ids):
        return list(tables)
    kept = [t.rows(np.flatnonzero(np.isin(t.series_ids, list(found)))) for t in tables]
    return [table for table in kept if table.point_count]


def _carry_out(plan: Plan) -> None:
    # Locked in order of id, so that two passes cannot deadlock.
    entries = by_id(JournalEntry, {plan.run_id}, plan.entry_ids)
    locked = entries.select_for_update().order_by("id").values_list("id", flat=True)
    if list(locked) != plan.entry_ids:
        raise Overtaken("another worker took these entries")
    entries.filter(id__in=plan.damaged_entry_ids).update(is_damaged=True)
    entries.exclude(id__in=plan.damaged_entry_ids).delete()
    insert_chunks(plan.chunks)
    note_writers(plan.run_id, plan.writers)
    if add_to_summaries(plan.run_id, plan.summaries) != len(plan.summaries):
        raise Overtaken("a series was deleted")
    gather([plan.run_id], HARDWARE)


def insert_chunks(chunks: Sequence[NewChunks]) -> None:
    """Insert chunks with their ticks; requires a transaction."""
    SeriesTicks.objects.bulk_create([new.ticks for new in chunks])
    values = attrgetter(*CHUNK_COLUMNS)
    carry_out_many(
        INSERT_CHUNK,
        (
            (key(chunk.run_id), new.ticks.id, *values(chunk))
            for new in chunks
            for chunk in new.chunks
        ),
    )


def _mergeable(run_id: UUID, least: int) -> Iterator[list[int]]:
    """Yield groups of series whose open chunks are to be joined."""
    rows = (
        SeriesChunk.objects.filter(run_id=run_id, is_open=True)
        .values("series_id")
        .annotate(chunks=Count("id"), points=Sum("count"))
        .filter(chunks__gte=least)
        .order_by("series_id")
        .values_list("series_id", "chunks", "points")
    )
    series_ids: list[int] = []
    chunks = points = 0
    for series_id, its_chunks, its_points in rows:
        is_full = (
            chunks + its_chunks > JOINED_CHUNKS or points + its_points > PASS_POINTS
        )
        if series_ids and is_full:
            yield series_ids
            series_ids, chunks, points = [], 0, 0
        series_ids.append(series_id)
        chunks += its_chunks
        points += its_points
    if series_ids:
        yield series_ids


def _make_merger(run_id: UUID, series_ids: Sequence[int]) -> Merger:
    rows: list[tuple[int, int, int | None]] = []
    for some in batches(series_ids):
        chunks = SeriesChunk.objects.filter(
            run_id=run_id, is_open=True, series_id__in=some
        )
        rows += chunks.order_by("first_step", "id").values_list(
            "id", "series_id", "ticks_id"
        )
    points = read_chunks({run_id}, [chunk_id for chunk_id, _, _ in rows])
    good = [row for row in rows if row[0] in points]
    return Merger(
        run_id=run_id,
        leaving=Counter(ticks_id for _, _, ticks_id in good if ticks_id is not None),
        chunk_ids=sorted(chunk_id for chunk_id, _, _ in good),
        damaged_chunk_ids=[row[0] for row in rows if row[0] not in points],
        chunks=[
            new for table in _joined(good, points) for new in make_chunks(run_id, table)
        ],
    )


def _joined(
    rows: Sequence[tuple[int, int, int | None]], points: Mapping[int, Points]
) -> Iterator[Table]:
    """Yield the points of chunks, grouped by series with the same ticks."""
    chunk_ids: dict[int, list[int]] = defaultdict(list)
    ticks: dict[int, list[int]] = defaultdict(list)
    for chunk_id, series_id, ticks_id in rows:
        chunk_ids[series_id].append(chunk_id)
        # A chunk of the first version has its own ticks.
        ticks[series_id].append(-chunk_id if ticks_id is None else ticks_id)

    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for series_id, of_series in ticks.items():
        groups[tuple(of_series)].append(series_id)
    for series_ids in groups.values():
        columns = zip(*(chunk_ids[series_id] for series_id in series_ids), strict=True)
        yield one_after_the_other(
            [
                table_of(series_ids, [points[chunk_id] for chunk_id in column])
                for column in columns
            ]
        )


def _replace(merger: Merger) -> None:
    run_ids = {merger.run_id}
    # In order of id, as above.
    locked: list[int] = []
    for ids in batches(merger.chunk_ids):
        some = by_id(SeriesChunk, run_ids, ids).select_for_update().order_by("id")
        locked += some.values_list("id", flat=True)
    if locked != merger.chunk_ids:
        raise Overtaken("another worker joined these chunks")
    for ids in batches(merger.chunk_ids):
        by_id(SeriesChunk, run_ids, ids).delete()
    by_id(SeriesChunk, run_ids, merger.damaged_chunk_ids).update(is_open=False)
    _leave_ticks(merger)
    insert_chunks(merger.chunks)


def _leave_ticks(merger: Merger) -> None:
    """Delete ticks without chunks."""
    by_count: dict[int, list[int]] = defaultdict(list)
    for ticks_id, count in merger.leaving.items():
        by_count[count].append(ticks_id)
    for count, ticks_ids in sorted(by_count.items()):
        for ids in batches(sorted(ticks_ids)):
            left = by_id(SeriesTicks, {merger.run_id}, ids)
            left.update(chunk_count=F("chunk_count") - count)
            left.filter(chunk_count=0).delete()
