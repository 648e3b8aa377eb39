"""Decides who has to wait when too much is sent (pure but for its clock).

What is not compacted makes charts slower and the database larger, and batches without
a pause keep pages from being answered. So beyond a limit those who send the most are
asked to wait; whoever sends little goes on as if nothing were. An agent that waits
keeps its points on disk.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock

from tracker.errors import Busy
from tracker.ingest.crowd import Crowd
from tracker.server.processes import THREADS

# In points of the journal, some 8 bytes each.
BEHIND_POINTS = 50_000_000
FAR_BEHIND_POINTS = 200_000_000
LOOK_SECONDS = 1.0
# What was sent counts half as much after this long.
HALF_LIFE_SECONDS = 10.0
FORGOTTEN = 1.0
# Of the threads of a server process: once batches want so many, those who send the
# most get half of them, and pages are left the rest.
CROWDED = THREADS - 2
UNDISTURBED = THREADS // 2
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
        self._crowd = Crowd(clock())

    @contextmanager
    def admitted(self, sender: Hashable) -> Iterator[Admitted]:
        """Let the sender in for the block, or raise Busy because it has to wait."""
        backlog_points = self._look()
        began = self._clock()
        with self._lock:
            self._crowd.begin(began)
            if self._has_to_wait(sender, backlog_points):
                self._crowd.turn_away(began)
                raise Busy(random.randint(*RETRY_SECONDS))
        admitted = Admitted(self._crowd, self._lock, self._clock, began)
        try:
            yield admitted
        finally:
            with self._lock:
                self._crowd.end(admitted.began, self._clock())

    def note(self, sender: Hashable, size: int) -> None:
        """Count what a sender was let in with."""
        with self._lock:
            self._decay()
            self._sent[sender] = self._sent.get(sender, 0.0) + size

    def _has_to_wait(self, sender: Hashable, backlog_points: int) -> bool:
        if backlog_points > FAR_BEHIND_POINTS:
            return True
        is_behind = backlog_points > BEHIND_POINTS
        return (is_behind or self._is_crowded()) and self._is_heavy(sender)

    def _is_crowded(self) -> bool:
        wanted = self._crowd.wanted_threads(self._clock())
        return wanted > CROWDED and self._crowd.at_work > UNDISTURBED

    def _is_heavy(self, sender: Hashable) -> bool:
        self._decay()
        own = self._sent.get(sender, 0.0)
        return own > 0 and own >= sum(self._sent.values()) / len(self._sent)

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


class Admitted:
    """A sender who was let in, and may stand aside for a while."""

    def __init__(
        self, crowd: Crowd, lock: Lock, clock: Callable[[], float], began: float
    ) -> None:
        self._crowd, self._lock, self._clock = crowd, lock, clock
        # As if the time aside had not been.
        self.began = began

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do not count for the block: it waits for a client, and keeps nobody busy."""
        left = self._clock()
        with self._lock:
            self._crowd.leave(left)
        try:
            yield
        finally:
            now = self._clock()
            with self._lock:
                self._crowd.begin(now)
            self.began += now - left
