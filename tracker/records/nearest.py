"""Finds the record of a series nearest at or before a step (pure).

Steps may arrive in any order, and several at one step: then the last to arrive counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tracker.records.record import Records

# Maximum number of chunks to read whose range contains the step, latest start first.
# With more, which requires disordered steps, the result may not be the nearest.
MAX_WITHIN = 4


@dataclass(frozen=True, slots=True)
class ChunkSteps:
    """A chunk's position in its series, and its range of steps."""

    id: int
    first: int
    first_step: float  # minimum
    last_step: float  # maximum


def chunks_to_read(chunks: Iterable[ChunkSteps], step: float) -> list[ChunkSteps]:
    """Return the chunks that may contain the record at a step: nearly always one."""
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
    """Return whether the last overlapping chunk starts nearer to the step."""
    return bool(within) and within[-1].first_step > nearest.last_step


def place_at(records: Records, step: float) -> int | None:
    """Return the index of the record at a step; None if all come later."""
    steps = np.where(records.steps <= step, records.steps, -np.inf)
    if not len(steps) or steps.max() == -np.inf:
        return None
    # The last of those that share the highest step.
    return len(steps) - 1 - int(np.argmax(steps[::-1]))
