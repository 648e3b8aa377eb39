"""Tracks the newest driver sample read, in the driver's clock."""

from __future__ import annotations

import time
from collections.abc import Callable

# The driver uses the machine's clock, in microseconds since 1970.
_SECOND = 1_000_000


class LastSeen:
    """The time of the newest sample; 0 before the first, and after a clock step.

    A time in the future is from before the clock was set back: until it passes that
    time again, no sample would be newer.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._newest = 0

    @property
    def newest(self) -> int:
        is_ahead = self._newest > (self._clock() + 1) * _SECOND
        return 0 if is_ahead else self._newest

    def saw(self, times: list[int]) -> None:
        """Store the time of the newest sample read."""
        self._newest = max((*times, self.newest))
