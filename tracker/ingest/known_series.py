"""Remembers which series the paths of a run are.

A process names the same thousand paths in every batch; looking them up each time would
take longer than storing their points. Ids never change, and a run that is deleted
takes its spools with it, so what is remembered stays true. But only what is committed
may be remembered.
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
    """Note what is stored for good."""
    _series.remember((run_id, paths), ids, bytes_of(paths))
