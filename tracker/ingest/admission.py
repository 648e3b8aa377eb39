"""Decides who has to wait while compaction is behind (pure but for its clock).

What is not compacted makes charts slower and the database larger. So beyond a limit
those who send the most are asked to wait; whoever sends little goes on as if nothing
were. An agent that waits keeps its points on disk.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Hashable
from threading import Lock

from tracker.errors import Busy

# In points of the journal, some 8 bytes each: what a worker compacts in about half a
# minute, and what takes minutes.
BEHIND_POINTS = 50_000_000
FAR_BEHIND_POINTS = 200_000_000
LOOK_SECONDS = 1.0
# What was sent counts half as much after this long.
HALF_LIFE_SECONDS = 10.0
FORGOTTEN = 1.0
RETRY_SECONDS = (5, 15)


class Admission:
    """Lets senders in, the heaviest last; one for each server process."""

    def __init__(
        self,
        read_backlog_points: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read_backlog_points = read_backlog_points
        self._clock = clock
        self._lock = Lock()
        self._looked_at = -math.inf
        self._backlog_points = 0
        # What each sender sent lately, as of `_decayed_at`.
        self._sent: dict[Hashable, float] = {}
        self._decayed_at = clock()

    def admit(self, sender: Hashable) -> None:
        """Return, or raise Busy because the sender has to wait."""
        backlog_points = self._look()
        if backlog_points <= BEHIND_POINTS:
            return
        with self._lock:
            self._decay()
            own = self._sent.get(sender, 0.0)
            fair_share = sum(self._sent.values()) / max(1, len(self._sent))
            if backlog_points > FAR_BEHIND_POINTS or (own and own >= fair_share):
                raise Busy(random.randint(*RETRY_SECONDS))

    def note(self, sender: Hashable, size: int) -> None:
        """Count what a sender was let in with."""
        with self._lock:
            self._decay()
            self._sent[sender] = self._sent.get(sender, 0.0) + size

    def _look(self) -> int:
        now = self._clock()
        with self._lock:
            is_old = now - self._looked_at > LOOK_SECONDS
            if is_old:
                self._looked_at = now
        if is_old:
            # Not under the lock, so that nobody waits for the database but one.
            self._backlog_points = self._read_backlog_points()
        return self._backlog_points

    def _decay(self) -> None:
        now = self._clock()
        if now - self._decayed_at < LOOK_SECONDS:
            return
        factor = 0.5 ** ((now - self._decayed_at) / HALF_LIFE_SECONDS)
        self._decayed_at = now
        self._sent = {
            sender: size * factor
            for sender, size in self._sent.items()
            if size * factor > FORGOTTEN
        }
