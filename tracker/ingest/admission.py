"""Admission control: which senders must retry later under load (pure but for its
clock).

Uncompacted points slow down charts and enlarge the database, and a flood of batches
blocks pages. Above a limit, the heaviest senders are rejected with Busy while light
ones continue. A rejected agent keeps its points on disk.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock

from tracker.errors import Busy
from tracker.ingest.concurrency import Concurrency
from tracker.server.processes import THREADS

# Points in the journal, about 8 bytes each.
BEHIND_POINTS = 50_000_000
FAR_BEHIND_POINTS = 200_000_000
LOOK_SECONDS = 1.0
# Half-life of the amount sent.
HALF_LIFE_SECONDS = 10.0
FORGOTTEN = 1.0
# Server threads that batches may use: when they need more, the heaviest senders are
# limited to half of the threads, and the rest serve pages.
CROWDED = THREADS - 2
UNDISTURBED = THREADS // 2
RETRY_SECONDS = (5, 15)


class Admission:
    """Admits senders, the heaviest last; one per server process."""

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
        # Amount recently sent by each sender, as of `_decayed_at`.
        self._sent: dict[Hashable, float] = {}
        self._decayed_at = clock()
        self._concurrency = Concurrency(clock())

    @contextmanager
    def admitted(self, sender: Hashable) -> Iterator[Admitted]:
        """Admit the sender for the block, or raise Busy."""
        backlog_points = self._look()
        began = self._clock()
        with self._lock:
            self._concurrency.begin(began)
            if self._has_to_wait(sender, backlog_points):
                self._concurrency.reject(began)
                raise Busy(random.randint(*RETRY_SECONDS))
        admitted = Admitted(self._concurrency, self._lock, self._clock, began)
        try:
            yield admitted
        finally:
            with self._lock:
                self._concurrency.end(admitted.began, self._clock())

    def note(self, sender: Hashable, size: int) -> None:
        """Count bytes of an admitted sender."""
        with self._lock:
            self._decay()
            self._sent[sender] = self._sent.get(sender, 0.0) + size

    def _has_to_wait(self, sender: Hashable, backlog_points: int) -> bool:
        if backlog_points > FAR_BEHIND_POINTS:
            return True
        is_behind = backlog_points > BEHIND_POINTS
        return (is_behind or self._is_crowded()) and self._is_heavy(sender)

    def _is_crowded(self) -> bool:
        threads = self._concurrency.needed_threads(self._clock())
        return threads > CROWDED and self._concurrency.at_work > UNDISTURBED

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
            # Not under the lock, so that only one thread waits for the database.
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
    """An admitted sender, which may pause for a while."""

    def __init__(
        self, crowd: Concurrency, lock: Lock, clock: Callable[[], float], began: float
    ) -> None:
        self._concurrency, self._lock, self._clock = crowd, lock, clock
        # Shifted by the time spent in aside().
        self.began = began

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do not count the sender within the block, while it waits for its client."""
        left = self._clock()
        with self._lock:
            self._concurrency.leave(left)
        try:
            yield
        finally:
            now = self._clock()
            with self._lock:
                self._concurrency.begin(now)
            self.began += now - left
