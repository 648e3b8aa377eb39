"""Converts monotonic counters to rates per second."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

# Kernels count CPU time in 10 ms ticks: over shorter intervals a rate is noise.
_SHORTEST_SECONDS = 0.25


class Rate:
    """The growth of a counter between two samples, per second.

    A sum may temporarily miss a part. For up to `most_missing` samples in a row, a
    lower value is treated as incomplete, not as a reset; otherwise the returning part
    would count as growth.
    """

    def __init__(self, *, most_missing: int = 0) -> None:
        self._last: tuple[float, float] | None = None
        self._most_missing = most_missing
        self._missing = 0

    def of(self, count: float | None, now: float) -> float | None:
        """Return the rate since the last sample; None if it is unknown."""
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
        # After a reset the growth is unknown.
        if last is None or has_fallen:
            return None
        return (count - last[0]) / (now - last[1])


class Rates:
    """Rates of several counters, by name."""

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
        """Drop counters that have ended."""
        for name in names:
            self._rates.pop(name, None)


class Growth:
    """The growth of a counter since the first sample, across resets."""

    def __init__(self) -> None:
        self._last: float | None = None
        self._grown = 0.0
        # None before the first sample, then the last result.
        self.last_result: float | None = None

    def of(self, count: float | None) -> float | None:
        if count is None:
            return None
        last, self._last = self._last, count
        # After a reset, the whole value is new.
        self._grown += 0.0 if last is None else count - (last if count >= last else 0)
        self.last_result = self._grown
        return self._grown

    def go_on_with_another(self) -> None:
        """Treat the next sample as the first of another counter, and add its growth."""
        self._last = None


# Several counters, by name.
Growths = defaultdict[str, Growth]


def share(rate: float | None) -> float | None:
    """Return seconds per second as a share of at most 1; clocks differ slightly."""
    return None if rate is None else min(1.0, rate)


def known(readings: Mapping[str, float | None]) -> dict[str, float]:
    """Return the known metrics; unknown ones are omitted, never 0."""
    return {path: value for path, value in readings.items() if value is not None}
