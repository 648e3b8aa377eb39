"""Rate limit for stored lines: a large burst, then few per second (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

# Limits of a program with too much output.
BURST = 10_000  # lines
PER_SECOND = 50.0  # lines
_FEWEST = 10  # lines, whatever was stored before

Item = TypeVar("Item")


class Allowance:
    """A token bucket that refills over time."""

    def __init__(self, now: float) -> None:
        self._left = float(BURST)
        self._filled_at = now

    def kept(
        self, lines: Sequence[Item], now: float
    ) -> tuple[Sequence[Item], int, Sequence[Item]]:
        """Return the first lines to store, the number of dropped ones, and the last
        lines.
        """
        self._left = min(BURST, self._left + (now - self._filled_at) * PER_SECOND)
        self._filled_at = now
        most = max(_FEWEST, int(self._left))
        self._left = max(0.0, self._left - min(len(lines), most))
        if len(lines) <= most:
            return lines, 0, ()
        # The beginning and the end of a flood.
        last = most // 2
        return lines[: most - last], len(lines) - most, lines[len(lines) - last :]
