"""Marks the steps from which a restarted process logs again.

A restarted job continues from a checkpoint, which is older than the last points. Its
new points replace those: the server keeps the old ones but no longer shows them.
"""

from __future__ import annotations

from collections.abc import Iterable

from seamark.queue.buffer import Buffer, Rewind
from seamark.queue.layouts import MEASURED
from seamark.recording.path_types import LARGEST_RUN


class Rewinds:
    """The series that this process has logged to; each is marked once."""

    def __init__(self, buffer: Buffer, resumed_at: int) -> None:
        """Create it; points from before `resumed_at`, in microseconds, are replaced."""
        self._buffer = buffer
        self._resumed_at = resumed_at
        self._seen: set[str] = set()

    def note(self, paths: Iterable[str], step: float | None) -> None:
        """Mark series that are about to be logged, at a step or at the next one."""
        for path in paths:
            if path in self._seen or len(self._seen) >= LARGEST_RUN:
                continue
            self._seen.add(path)
            # Without explicit steps it is unknown which ones are logged again.
            if step is not None and not path.startswith(MEASURED):
                self._buffer.put(Rewind(path, step, self._resumed_at))
