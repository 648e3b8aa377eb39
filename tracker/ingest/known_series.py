"""Caches the series ids of a run's paths.

A process sends the same thousand paths in every batch; looking them up would take
longer than storing their points. Ids never change, and a deleted run takes its spools
with it, so entries stay valid. Only committed ids may be cached.
"""

from __future__ import annotations

from uuid import UUID

from tracker.ingest.paths import MAX_BYTES, bytes_of
from tracker.series.points import Integers
from tracker.server.caches import Memory

_series: Memory[tuple[UUID, tuple[str, ...]], Integers] = Memory(MAX_BYTES)


def known_series(run_id: UUID, paths: tuple[str, ...]) -> Integers | None:
    return _series.get((run_id, paths))


def remember_series(run_id: UUID, paths: tuple[str, ...], ids: Integers) -> None:
    """Cache committed ids."""
    _series.remember((run_id, paths), ids, bytes_of(paths))
