"""Which record of a series stands at a step: the nearest at or before it (pure).

Steps may arrive in any order, and several at one step: then the last to arrive counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tracker.records.record import Records

# Of chunks that hold a step within, as when steps arrive in disorder, so many are read:
# those that begin latest. Of more, a record may be found that is not the very nearest.
MAX_WITHIN = 4


@dataclass(frozen=True, slots=True)
class ChunkSteps:
    """Where a chunk of records lies in its series, and among steps."""

    id: int
    first: int
    first_step: float  # lowest
    last_step: float  # highest


def chunks_to_read(chunks: Iterable[ChunkSteps], step: float) -> list[ChunkSteps]:
    """Return the chunks that may hold the record at a step: nearly always one."""
    begun = [chunk for chunk in chunks if chunk.first_step <= step]
    within = [chunk for chunk in begun if chunk.last_step > step]
    within.sort(key=lambda chunk: (chunk.first_step, chunk.first))
    past = [chunk for chunk in begun if chunk.last_step <= step]
    nearest = max(past, key=lambda each: (each.last_step, each.first), default=None)
    chosen = within[-MAX_WITHIN:]
    if nearest is not None and not _begins_later(chosen, nearest):
        chosen.append(nearest)
    return chosen


def _begins_later(within: list[ChunkSteps], nearest: ChunkSteps) -> bool:
    """Say whether a chunk around the step has, with its first, something nearer."""
    return bool(within) and within[-1].first_step > nearest.last_step


def place_at(records: Records, step: float) -> int | None:
    """Return the place of the record at a step; None: all of them come later."""
    steps = np.where(records.steps <= step, records.steps, -np.inf)
    if not len(steps) or steps.max() == -np.inf:
        return None
    # The last of those that share the highest step.
    return len(steps) - 1 - int(np.argmax(steps[::-1]))
