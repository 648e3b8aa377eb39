"""From counters that only grow to rates per second."""

from __future__ import annotations

# Kernels count CPU time in hundredths of a second: over less than this, a rate is noise.
_SHORTEST_SECONDS = 0.25


class Rate:
    """The growth of one counter between two readings, per second."""

    def __init__(self) -> None:
        self._last: tuple[float, float] | None = None

    def of(self, count: float | None, now: float) -> float | None:
        """Return the rate since the last reading; None if there is none to tell."""
        if count is None:
            return None
        last = self._last
        if last is not None and now < last[1] + _SHORTEST_SECONDS:
            return None
        self._last = (count, now)
        if last is None:
            return None
        # A counter that fell was reset: how much it grew is unknown.
        if count < last[0]:
            return None
        return (count - last[0]) / (now - last[1])


def known(readings: dict[str, float | None]) -> dict[str, float]:
    """Return the readings that there are: absent is absent, never 0."""
    return {path: value for path, value in readings.items() if value is not None}
