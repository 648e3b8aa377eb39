"""Estimates the number of threads that batches need, including rejected ones (pure).

By Little's law that is the arrival rate times the seconds per batch. A server that
briefly waits for its disk has all threads busy, too, but the average stays low and no
batch is rejected.
"""

from __future__ import annotations

import math

# Averaging window: shorter bursts and stalls have no effect.
WINDOW_SECONDS = 2.0
# The weight of the newest batch in the mean duration.
NEWEST_SHARE = 0.05


class Concurrency:
    """The number of running batches over time; all times in seconds of one clock."""

    def __init__(self, now: float) -> None:
        self.at_work = 0
        self._needed = 0.0
        self._mean_seconds = 0.0
        self._as_of = now

    def needed_threads(self, now: float) -> float:
        """Return the average number of threads that batches needed recently."""
        share = math.exp(-max(0.0, now - self._as_of) / WINDOW_SECONDS)
        self._needed = self._needed * share + self.at_work * (1.0 - share)
        self._as_of = now
        return self._needed

    def begin(self, now: float) -> None:
        self.needed_threads(now)
        self.at_work += 1

    def end(self, began: float, now: float) -> None:
        self.needed_threads(now)
        self.at_work -= 1
        self._mean_seconds += NEWEST_SHARE * (now - began - self._mean_seconds)

    def leave(self, now: float) -> None:
        """Stop counting a running batch while it waits for its client."""
        self.needed_threads(now)
        self.at_work -= 1

    def reject(self, now: float) -> None:
        """Count a batch that was rejected at once."""
        self.needed_threads(now)
        self.at_work -= 1
        self._needed += self._mean_seconds / WINDOW_SECONDS
