"""Reads points that are still in the journal, together with chunks.

The journal contains all series of a run, until compaction. A reader keeps only the
requested series, and readers of long journals are limited in number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from threading import BoundedSemaphore
from typing import TypeVar
from uuid import UUID

import numpy as np

from tracker.errors import Unavailable
from tracker.models import JournalEntry
from tracker.series import journal
from tracker.series.points import Points, concatenate
from tracker.series.store import (
    IDS_IN_A_STATEMENT,
    Overtaken,
    Summaries,
    read_summaries,
    rows_by_id,
    undamaged,
)
from tracker.series.table import Table, one_after_the_other
from tracker.server.statements import every_row

# Compaction takes entries about once a second, and joins chunks less often.
TRIES = 10
# Up to this many points of the journal are read at once, for all series.
POINTS_AT_ONCE = 1_000_000
# Maximum points of the requested series, about 24 bytes each.
MAX_POINTS = 20_000_000
# Concurrent readers of long journals per process, and how long others wait for them.
LONG_READS_AT_ONCE = 2
WAIT_SECONDS = 0.5

OTHERS_READ = (
    "Much of this run's data is not compacted yet, and too many requests are reading"
    " it. Retry in a few seconds."
)
TOO_MUCH = (
    f"More than {MAX_POINTS:,} points of these series are not compacted yet. Ask for"
    " fewer series, or try again once the worker has come to them."
)

_ENTRIES = "FROM tracker_journalentry WHERE run_id IN ({runs}) AND NOT is_damaged"
# Data is included only if there is little of it: a second statement would cost each
# chart of a live run more than the sum does.
SELECT_ENTRIES = (
    "SELECT id, point_count,"
    f" CASE WHEN (SELECT SUM(point_count) {_ENTRIES}) <= {POINTS_AT_ONCE}"
    f" THEN data END {_ENTRIES}"
)
SELECT_ENTRY_IDS = f"SELECT id {_ENTRIES}"

Result = TypeVar("Result")
# PostgreSQL returns the one, SQLite the other.
Stored = bytes | memoryview
# An entry's id, its number of points and, if it was read, its data.
Entry = tuple[int, int, Stored | None]
# By entry, the tables with requested series.
Tables = dict[int, list[Table]]

_long_reads = BoundedSemaphore(LONG_READS_AT_ONCE)


class Tails:
    """The points of series that are still in the journal."""

    def __init__(self, tables: Sequence[Table] = ()) -> None:
        # A process names the same series in each batch.
        alike: dict[bytes, list[Table]] = defaultdict(list)
        for table in tables:
            alike[table.series_ids.tobytes()].append(table)
        self._groups = list(alike.values())

    def tables_of(self, series_ids: Collection[int]) -> list[Table]:
        """Return the points of these series, in one table per group logged together."""
        ids = np.fromiter(series_ids, np.int64, len(series_ids))
        tables = []
        for group in self._groups:
            is_requested = np.isin(group[0].series_ids, ids)
            if is_requested.all():
                tables.append(one_after_the_other(group))
            elif is_requested.any():
                rows = np.flatnonzero(is_requested)
                tables.append(one_after_the_other([part.rows(rows) for part in group]))
        return tables

    def points_of(self, series_ids: Collection[int]) -> dict[int, Points]:
        """Return the points of each series; perhaps none."""
        parts: dict[int, list[Points]] = {series_id: [] for series_id in series_ids}
        for table in self.tables_of(series_ids):
            for row, series_id in enumerate(table.series_ids.tolist()):
                parts[series_id].append(table.points_of(row))
        return {series_id: concatenate(some) for series_id, some in parts.items()}


def consistently(
    run_ids: Collection[UUID],
    series_ids: Collection[int],
    read: Callable[[Tails, dict[int, Summaries]], Result],
) -> Result:
    """Call `read` with the series' journal points and their chunks.

    The chunks are consistent with the journal; if they are joined meanwhile, everything
    is retried.

    Raises Unavailable if the journal is long and too many requests read long ones, or
    if these series have too many points in it.
    """
    for _ in range(TRIES):
        found: list[Entry] = every_row(SELECT_ENTRIES, [], run_ids=run_ids)
        # In order of arrival; sorting in the database would copy the data.
        entries = sorted(found, key=itemgetter(0))
        with _room_for(entries):
            try:
                tables = _tables(run_ids, series_ids, entries)
                return read(*_with_chunks(run_ids, series_ids, tables))
            except Overtaken:
                continue
    raise Unavailable


def _with_chunks(
    run_ids: Collection[UUID], series_ids: Collection[int], tables: Tables
) -> tuple[Tails, dict[int, Summaries]]:
    """Return the journal entries, and the chunks without their points.

    An entry that exists after the chunks were read was in none of them. A missing entry
    is in a chunk by now, so only chunks are read again.
    """
    for _ in range(TRIES):
        summaries = read_summaries(run_ids, series_ids)
        there = (
            {i for (i,) in every_row(SELECT_ENTRY_IDS, [], run_ids=run_ids)}
            if tables
            else set()
        )
        if tables.keys() <= there:
            every = [table for of_entry in tables.values() for table in of_entry]
            return Tails(every), summaries
        tables = {i: of_entry for i, of_entry in tables.items() if i in there}
    raise Overtaken


def _is_long(entries: Sequence[Entry]) -> bool:
    return bool(entries) and entries[0][2] is None


@contextmanager
def _room_for(entries: Sequence[Entry]) -> Iterator[None]:
    """Limit the number of concurrent readers of long journals."""
    if not _is_long(entries):
        yield
        return
    if not _long_reads.acquire(timeout=WAIT_SECONDS):
        raise Unavailable(OTHERS_READ)
    try:
        yield
    finally:
        _long_reads.release()


def _tables(
    run_ids: Collection[UUID], series_ids: Collection[int], entries: Sequence[Entry]
) -> Tables:
    """Return the tables of the existing entries, in order of arrival."""
    if not _is_long(entries):
        return {i: _decoded(i, data) for i, _, data in entries if data is not None}

    ids = np.fromiter(series_ids, np.int64, len(series_ids))
    tables: Tables = {}
    point_count = 0
    for entry_id, data in _portions(run_ids, entries):
        tables[entry_id] = []
        for table in _decoded(entry_id, data):
            rows = np.flatnonzero(np.isin(table.series_ids, ids))
            if not len(rows):
                continue
            point_count += len(rows) * table.tick_count
            if point_count > MAX_POINTS:
                raise Unavailable(TOO_MUCH)
            # Copied, because a view would keep the bytes of the whole entry.
            tables[entry_id].append(table.rows(rows).copy())
    return tables


def _portions(
    run_ids: Collection[UUID], entries: Sequence[Entry]
) -> Iterator[tuple[int, Stored]]:
    """Yield entries with their data, few at a time."""
    ids: list[int] = []
    points = 0
    for entry_id, point_count, _ in entries:
        if ids and (
            points + point_count > POINTS_AT_ONCE or len(ids) == IDS_IN_A_STATEMENT
        ):
            yield from _with_data(run_ids, ids)
            ids, points = [], 0
        ids.append(entry_id)
        points += point_count
    yield from _with_data(run_ids, ids)


def _with_data(
    run_ids: Collection[UUID], ids: Sequence[int]
) -> list[tuple[int, Stored]]:
    rows = rows_by_id(JournalEntry, run_ids, ids, "data")
    return sorted(((row[0], row[1]) for row in rows), key=itemgetter(0))


def _decoded(entry_id: int, data: Stored) -> list[Table]:
    """Return the tables of a journal entry; a damaged one is logged and skipped."""
    return undamaged(journal.decode, data, f"journal entry {entry_id}") or []
