"""Finds the processes that log to series, and updates the series' rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tracker.models import Attribute, Kind, Spool
from tracker.series.store import batches
from tracker.series.writers import (
    Known,
    Logged,
    Process,
    SpoolKey,
    Writer,
    changed,
    strangers,
)
from tracker.server.statements import every_row, key, many

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# For a thousand series, the ORM would dominate the time.
SELECT_WRITERS = (
    "SELECT id, writer FROM tracker_attribute"
    " WHERE run_id IN ({runs}) AND kind = %s AND id = ANY(%s)"
)


def find_changes(run_id: UUID, logged: Sequence[Logged]) -> dict[int, Known]:
    """Return the new writers of series after these points.

    While each series is written by the process in its row, one statement suffices.
    """
    series_ids = sorted({i for some in logged for i in some.series_ids.tolist()})
    spools: dict[int, SpoolKey | None] = {}
    for ids in batches(series_ids):
        parameters = [Kind.FLOAT_SERIES.value, many(ids)]
        spools.update(every_row(SELECT_WRITERS, parameters, run_ids=[run_id]))
    new = strangers(spools, logged)
    return _changed(run_id, logged, _stored_writers(run_id, new)) if new else {}


def find_changes_of(
    rows: Iterable[Attribute], run_id: UUID, logged: Sequence[Logged]
) -> dict[int, Known]:
    """The same for rows that are loaded, in their state before these points."""
    known = {row.pk: _as_known(row.writer, row.last_time, row.writers) for row in rows}
    spools = {series_id: found.spool for series_id, found in known.items()}
    return _changed(run_id, logged, known) if strangers(spools, logged) else {}


def _changed(
    run_id: UUID, logged: Sequence[Logged], known: Mapping[int, Known]
) -> dict[int, Known]:
    named = {some.spool for some in logged}
    named.update(found.spool for found in known.values() if found.spool is not None)
    return changed(known, logged, _processes(run_id, named))


def note_writers(run_id: UUID, changes: Mapping[int, Known]) -> None:
    """Update the rows; requires a transaction."""
    alike: dict[tuple[SpoolKey | None, tuple[Writer, ...]], list[int]]
    alike = defaultdict(list)
    for series_id, found in sorted(changes.items()):
        alike[found.spool, found.writers].append(series_id)
    for (spool, writers), series_ids in alike.items():
        stored = [list(writer) for writer in writers] or None
        for ids in batches(series_ids):
            rows = Attribute.objects.filter(run_id=run_id, id__in=ids)
            rows.update(writer=spool, writers=stored)


def _stored_writers(run_id: UUID, series_ids: Collection[int]) -> dict[int, Known]:
    found: dict[int, Known] = {}
    for ids in batches(sorted(series_ids)):
        rows = Attribute.objects.filter(run_id=run_id, id__in=ids)
        for series_id, spool, last_time, writers in rows.values_list(
            "id", "writer", "last_time", "writers"
        ):
            found[series_id] = _as_known(spool, last_time, writers)
    return found


def _as_known(
    spool: UUID | None,
    last_time: int | None,
    writers: Sequence[tuple[int, str, str, int]] | None,
) -> Known:
    return Known(
        None if spool is None else key(spool),
        last_time,
        tuple(Writer(*writer) for writer in writers or ()),
    )


def _processes(run_id: UUID, spools: Collection[SpoolKey]) -> dict[SpoolKey, Process]:
    found = {}
    # Processes of one run: few, except for runs that were restarted very often.
    for ids in batches(sorted(spools, key=str)):
        rows = Spool.objects.filter(run_id=run_id, id__in=ids).select_related("stage")
        for spool in rows:
            writer = Writer(spool.rank, spool.stage.name, spool.host, spool.process_id)
            began = (spool.started_at - EPOCH) // timedelta(microseconds=1)
            found[key(spool.id)] = Process(writer, began)
    return found
