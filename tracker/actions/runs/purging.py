"""Deletes a marked run in pieces, each in its own transaction.

A piece is small enough that other writers hardly wait. The remaining rows are found by
querying, so a worker may be killed between pieces, and two workers may delete the same
run.

Rows are deleted before the rows they refer to: points first, the run last. The journal
precedes the chunks, because compaction turns it into chunks, and chunks precede their
ticks. A concurrent batch or diagnosis may still add rows; then the run's row cannot be
deleted and the purge is retried.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

from django.db import connection, transaction

from tracker.models import Fork, Run, Work
from tracker.server.statements import key

# Maximum deletion per transaction; a single larger row is deleted alone.
PIECE_ROWS = 1_000
PIECE_BYTES = 1024 * 1024
# Writers poll for the lock every few milliseconds: each pause lets them in, and is
# longer than the preceding work.
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.02, 0.5
PAUSE_FACTOR = 2

# Any: a row's id, a number or a UUID of the driver.
Ids: TypeAlias = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with rows by run, and an SQL expression for a row's size in bytes."""

    name: str
    size: str = "0"


# In order of deletion.
TABLES = (
    Table("tracker_journalentry", "length(data)"),
    Table("tracker_serieschunk", "length(data) + length(overview)"),
    Table("tracker_seriesticks", "length(data) + length(overview)"),
    Table("tracker_rewind", "length(path)"),
    Table("tracker_recordchunk", "length(data)"),
    Table("tracker_file"),
    Table(
        "tracker_attribute",
        "coalesce(length(text), 0) + coalesce(length(CAST(items AS text)), 0)",
    ),
    Table("tracker_runcomment"),
    Table(
        "tracker_finding",
        "length(CAST(body AS text)) + length(CAST(history AS text))",
    ),
    Table("tracker_diagnosis"),
    Table("tracker_runsummary"),
    Table("tracker_notification", "length(summary)"),
    Table("tracker_follow"),
    Table("tracker_metricincident"),
    Table("tracker_metricrule"),
    Table("tracker_delivery"),
    Table("tracker_alert"),
    Table("tracker_annotation", "length(text)"),
    # A ladder stays, with its remaining steps.
    Table("tracker_rung", "length(note)"),
    Table("tracker_fork", "length(copied_path)"),
    Table("tracker_reopening"),
    Table("tracker_spool", "length(failure)"),
    Table("tracker_stage", "length(failure)"),
)


@dataclass(slots=True)
class Purged:
    """The rows deleted by one call, and whether the run is gone."""

    rows: int = 0
    longest_seconds: float = 0.0
    is_done: bool = False


def purge_run(run_id: UUID, *, seconds: float) -> Purged:
    """Delete a marked run, or as much of it as the time allows."""
    purged = Purged()
    if not Run.objects.filter(id=run_id, purging_at__isnull=False).exists():
        purged.is_done = True  # deleted by another worker, or never marked
        return purged

    deadline = time.monotonic() + seconds
    for table in TABLES:
        for ids in _pieces(table, run_id):
            if time.monotonic() > deadline:
                return purged
            _delete(purged, table, run_id, ids)
    _delete_row_of(run_id)
    purged.is_done = True
    return purged


def _pieces(table: Table, run_id: UUID) -> Iterator[Ids]:
    """Yield ids of remaining rows, in pieces of one transaction each."""
    is_postgresql = connection.vendor == "postgresql"
    last: list[Any] = []
    while True:
        # Dead rows still cost PostgreSQL time, so it continues after them. SQLite has
        # no dead rows, and would have to sort.
        where = " AND id > %s" if last else ""
        order = " ORDER BY id" if is_postgresql else ""
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT id, {table.size} FROM {table.name} WHERE run_id = %s{where}"
                f"{order} LIMIT {PIECE_ROWS}",
                [key(run_id), *last],
            )
            rows = cursor.fetchall()
        if not rows:
            return
        yield from _by_size(rows)
        last = [rows[-1][0]] if is_postgresql else []


def _by_size(rows: Sequence[tuple[Any, int]]) -> Iterator[Ids]:
    ids: list[Any] = []
    size = 0
    for row_id, row_size in rows:
        if ids and size + row_size > PIECE_BYTES:
            yield ids
            ids, size = [], 0
        ids.append(row_id)
        size += row_size
    yield ids


def _delete(purged: Purged, table: Table, run_id: UUID, ids: Ids) -> None:
    # PostgreSQL needs the run to select the partition; SQLite would scan all rows of
    # the run instead of using the ids.
    is_postgresql = connection.vendor == "postgresql"
    where, values = ("run_id = %s AND ", [key(run_id)]) if is_postgresql else ("", [])
    marks = ", ".join(["%s"] * len(ids))
    start = time.monotonic()
    with connection.cursor() as cursor:
        # Autocommit makes each statement its own transaction.
        cursor.execute(
            f"DELETE FROM {table.name} WHERE {where}id IN ({marks})", [*values, *ids]
        )
        purged.rows += cursor.rowcount
    took = time.monotonic() - start
    purged.longest_seconds = max(purged.longest_seconds, took)
    pause = max(PAUSE_FACTOR * took, SHORTEST_PAUSE_SECONDS)
    time.sleep(min(pause, LONGEST_PAUSE_SECONDS))


def _delete_row_of(run_id: UUID) -> None:
    """Delete the run and its work rows in one transaction."""
    with transaction.atomic():
        # Locked before its work, so that no new work is requested in between.
        Run.objects.select_for_update().filter(id=run_id).first()
        Work.objects.filter(run_id=run_id).delete()
        Run.objects.filter(parent=run_id).update(parent=None)
        Fork.objects.filter(source=run_id).update(source=None)
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM tracker_run WHERE id = %s", [key(run_id)])
