"""Says from which steps on a process logs again what an earlier one had logged.

A job that is started again goes on from a checkpoint, which is older than the last
points. What it logs at those steps takes their place: the tracker keeps the others and
no longer shows them.
"""

from __future__ import annotations

from collections.abc import Iterable

from seamark.queue.buffer import Buffer, Rewind
from seamark.queue.layouts import MEASURED
from seamark.recording.path_types import LARGEST_RUN


class Rewinds:
    """The series that this process has logged to; each is said once."""

    def __init__(self, buffer: Buffer, resumed_at: int) -> None:
        """`resumed_at`: what was logged before is an earlier process's; in microseconds."""
        self._buffer = buffer
        self._resumed_at = resumed_at
        self._seen: set[str] = set()

    def note(self, paths: Iterable[str], step: float | None) -> None:
        """Note series that are about to be logged, at a step or at the next one."""
        for path in paths:
            if path in self._seen or len(self._seen) >= LARGEST_RUN:
                continue
            self._seen.add(path)
            # Without steps of its own, nobody knows which ones it logs again.
            if step is not None and not path.startswith(MEASURED):
                self._buffer.put(Rewind(path, step, self._resumed_at))
