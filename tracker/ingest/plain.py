"""Fast path for nearly every batch: the next points of known series.

The server process predicts the spool's state from the last batch that it stored. If the
database confirms it, one statement on PostgreSQL and two on SQLite suffice; otherwise
the batch takes the general path.
"""

from __future__ import annotations

from uuid import UUID

from tracker.actor import Actor
from tracker.ingest.batch import Batch
from tracker.ingest.entries import Paths, SeriesIds, entry_of
from tracker.ingest.messages import AddPoints
from tracker.ingest.paths import known_series
from tracker.ingest.pipeline import remembered_checksums
from tracker.ingest.spools import Position, add_next
from tracker.series.points import Integers
from tracker.server.caches import Memory

# Memory of one cached spool position, and of all in a server process.
POSITION_BYTES = 1_000
MAX_BYTES = 16 * 1024 * 1024

_positions: Memory[UUID, Position] = Memory(MAX_BYTES)


def remember_position(spool_id: UUID, position: Position) -> None:
    """Cache the committed position of a spool."""
    _positions.remember(spool_id, position, POSITION_BYTES)


def store_plainly(actor: Actor, spool_id: UUID, batch: Batch) -> bool:
    """Store a plain batch; return False, without any change, for any other.

    It also returns False if the actor's token is no longer valid.
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
    """Return the ids of the batch's series; None if it contains anything else."""
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
