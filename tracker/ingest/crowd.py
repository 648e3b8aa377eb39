"""How many threads batches keep busy, and would if none were sent away (pure).

By Little's law that is how many arrive in a second times the seconds that each takes. A
server that waits for its disk for a moment has all threads busy, too, but not for long,
and it turns nobody away once the average says so.
"""

from __future__ import annotations

import math

# What is averaged over: a burst or a stall this short is no flood.
WINDOW_SECONDS = 2.0
# The weight of the newest batch in the mean of how long one takes.
NEWEST_SHARE = 0.05


class Crowd:
    """Batches under way, as of the moments that are told; all in seconds of one clock."""

    def __init__(self, now: float) -> None:
        self.at_work = 0
        self._wanted = 0.0
        self._mean_seconds = 0.0
        self._as_of = now

    def wanted_threads(self, now: float) -> float:
        """Return how many threads batches have wanted lately, on average."""
        share = math.exp(-max(0.0, now - self._as_of) / WINDOW_SECONDS)
        self._wanted = self._wanted * share + self.at_work * (1.0 - share)
        self._as_of = now
        return self._wanted

    def begin(self, now: float) -> None:
        self.wanted_threads(now)
        self.at_work += 1

    def end(self, began: float, now: float) -> None:
        self.wanted_threads(now)
        self.at_work -= 1
        self._mean_seconds += NEWEST_SHARE * (now - began - self._mean_seconds)

    def leave(self, now: float) -> None:
        """Count a batch no more that was begun, for as long as nobody works at it."""
        self.wanted_threads(now)
        self.at_work -= 1

    def turn_away(self, now: float) -> None:
        """Count a batch that was let in and sent away at once."""
        self.wanted_threads(now)
        self.at_work -= 1
        self._wanted += self._mean_seconds / WINDOW_SECONDS
