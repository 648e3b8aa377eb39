"""Stores what nearly every batch is: the next points of series that are known.

What a server process stored last tells it what to expect. If that is still so, which
the database decides, one statement on PostgreSQL and two on SQLite are all it takes;
if anything is different, the batch goes the way that finds out what.
"""

from __future__ import annotations

from uuid import UUID

from tracker.actor import Actor
from tracker.ingest.batch import Batch
from tracker.ingest.entries import Paths, SeriesIds, entry_of
from tracker.ingest.known_series import known_series
from tracker.ingest.messages import AddPoints
from tracker.ingest.pipeline import remembered_checksums
from tracker.ingest.spools import Position, add_next
from tracker.series.points import Integers
from tracker.server.caches import Memory

# What is remembered of a spool takes about so much, and of all in a server process.
POSITION_BYTES = 1_000
MAX_BYTES = 16 * 1024 * 1024

_positions: Memory[UUID, Position] = Memory(MAX_BYTES)


def remember_position(spool_id: UUID, position: Position) -> None:
    """Note how far a spool is stored for good."""
    _positions.remember(spool_id, position, POSITION_BYTES)


def store_plainly(actor: Actor, spool_id: UUID, batch: Batch) -> bool:
    """Store a plain batch; return False, having done nothing, for any other.

    Nor is anything done for an actor whose token is no longer good.
    """
    before = _positions.get(spool_id)
    if before is None or actor.token_id is None:
        return False
    if batch.first != before.last_number + 1 or batch.refusals:
        return False
    series = _series_of(before.run_id, batch)
    entry = entry_of(batch, series) if series else None
    if entry is None:
        return False

    checksums = remembered_checksums(before.checksums, batch)
    after = Position(before.run_id, batch.last, checksums)
    if not add_next(actor.token_id, spool_id, before, after, entry):
        return False
    remember_position(spool_id, after)
    return True


def _series_of(run_id: UUID, batch: Batch) -> SeriesIds | None:
    """Return the ids of the batch's series; None if it holds anything else."""
    series: dict[Paths, Integers] = {}
    for message in batch.messages:
        if not isinstance(message.content, AddPoints):
            return None
        paths = message.content.paths
        ids = known_series(run_id, paths)
        if ids is None:
            return None
        series[paths] = ids
    return series
