"""From counters that only grow to rates per second."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

# Kernels count CPU time in hundredths of a second: over less than this, a rate is noise.
_SHORTEST_SECONDS = 0.25


class Rate:
    """The growth of one counter between two readings, per second.

    A sum may miss at one reading what it has again at the next: `most_missing` is for how
    many readings in a row one that fell is taken for such a sum, not for one of what has
    begun anew. What comes back would else be taken for growth.
    """

    def __init__(self, *, most_missing: int = 0) -> None:
        self._last: tuple[float, float] | None = None
        self._most_missing = most_missing
        self._missing = 0

    def of(self, count: float | None, now: float) -> float | None:
        """Return the rate since the last reading; None if there is none to tell."""
        if count is None:
            return None
        last = self._last
        if last is not None and now < last[1] + _SHORTEST_SECONDS:
            return None
        has_fallen = last is not None and count < last[0]
        if has_fallen and self._missing < self._most_missing:
            self._missing += 1
            return None
        self._missing = 0
        self._last = (count, now)
        # A counter that fell was reset: how much it grew is unknown.
        if last is None or has_fallen:
            return None
        return (count - last[0]) / (now - last[1])


class Rates:
    """The same of several counters, by name."""

    def __init__(self) -> None:
        self._rates: dict[str, Rate] = {}

    def of(
        self, counts: Mapping[str, float | None], now: float
    ) -> dict[str, float | None]:
        return {
            name: self._rates.setdefault(name, Rate()).of(count, now)
            for name, count in counts.items()
        }

    def forget(self, names: Iterable[str]) -> None:
        """Know nothing any more of counters that have ended."""
        for name in names:
            self._rates.pop(name, None)


class Growth:
    """How much a counter has grown since it was first read; resets are survived."""

    def __init__(self) -> None:
        self._last: float | None = None
        self._grown = 0.0
        # None before the first reading, then what the last one said.
        self.told: float | None = None

    def of(self, count: float | None) -> float | None:
        if count is None:
            return None
        last, self._last = self._last, count
        # After a reset, all that the counter shows is new.
        self._grown += 0.0 if last is None else count - (last if count >= last else 0)
        self.told = self._grown
        return self._grown

    def go_on_with_another(self) -> None:
        """Take the next reading as the first of another counter, whose growth is added."""
        self._last = None


# Several, by the names of their counters.
Growths = defaultdict[str, Growth]


def share(rate: float | None) -> float | None:
    """Return a rate of seconds per second as a share; clocks differ a little."""
    return None if rate is None else min(1.0, rate)


def known(readings: Mapping[str, float | None]) -> dict[str, float]:
    """Return the readings that there are: absent is absent, never 0."""
    return {path: value for path, value in readings.items() if value is not None}
