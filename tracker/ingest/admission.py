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
from tracker.processes import THREADS

# In points of the journal, some 8 bytes each.
BEHIND_POINTS = 50_000_000
FAR_BEHIND_POINTS = 200_000_000
LOOK_SECONDS = 1.0
# What was sent counts half as much after this long.
HALF_LIFE_SECONDS = 10.0
FORGOTTEN = 1.0
# Of the threads of a server process. Once batches have kept so many busy for so long,
# those who send the most get half of them, and pages are left the rest.
CROWDED = THREADS - 2
UNDISTURBED = THREADS // 2
PATIENCE_SECONDS = 0.5
FLOOD_SECONDS = 5.0
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
        # Batches under way, since when there were always many, and until when they
        # are taken to be too many.
        self._at_work = 0
        self._crowded_since = math.inf
        self._flooded_until = -math.inf

    @contextmanager
    def admitted(self, sender: Hashable) -> Iterator[None]:
        """Let the sender in for the block, or raise Busy because it has to wait."""
        backlog_points = self._look()
        with self._lock:
            self._at_work += 1
        try:
            with self._lock:
                self._judge(sender, backlog_points)
            yield
        finally:
            with self._lock:
                self._at_work -= 1

    def note(self, sender: Hashable, size: int) -> None:
        """Count what a sender was let in with."""
        with self._lock:
            self._decay()
            self._sent[sender] = self._sent.get(sender, 0.0) + size

    def _judge(self, sender: Hashable, backlog_points: int) -> None:
        is_in_the_way = self._is_flooded() and self._at_work > UNDISTURBED
        if not is_in_the_way and backlog_points <= BEHIND_POINTS:
            return
        if backlog_points > FAR_BEHIND_POINTS or self._is_heavy(sender):
            if is_in_the_way:
                # Whoever is sent away will be back.
                self._flooded_until = self._clock() + FLOOD_SECONDS
            raise Busy(random.randint(*RETRY_SECONDS))

    def _is_flooded(self) -> bool:
        """Tell whether batches have kept nearly all threads busy for long.

        All ranks of a job send at the same moment; that is over in a moment, too.
        """
        now = self._clock()
        if self._at_work < CROWDED:
            self._crowded_since = math.inf
        else:
            self._crowded_since = min(self._crowded_since, now)
        if now - self._crowded_since > PATIENCE_SECONDS:
            self._flooded_until = now + FLOOD_SECONDS
        return now < self._flooded_until

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
