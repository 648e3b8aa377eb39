"""Until when the driver's samples have been taken, by its own clock."""

from __future__ import annotations

import time
from collections.abc import Callable

# The driver's clock is that of the machine, in microseconds since 1970.
_SECOND = 1_000_000


class LastSeen:
    """The time of the newest sample; 0 before the first, and after a step of the clock.

    A time that lies ahead is from before the clock was put back: nothing would be newer
    until the clock has passed it once more.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._newest = 0

    @property
    def newest(self) -> int:
        is_ahead = self._newest > (self._clock() + 1) * _SECOND
        return 0 if is_ahead else self._newest

    def saw(self, times: list[int]) -> None:
        """Remember the newest of all that were taken."""
        self._newest = max((*times, self.newest))
