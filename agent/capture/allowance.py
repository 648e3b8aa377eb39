"""How many lines may be stored: many at once, few for ever (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

# What a program that says too much still gets stored.
BURST = 10_000  # lines
PER_SECOND = 50.0  # lines
_FEWEST = 10  # lines, whatever was stored before

Item = TypeVar("Item")


class Allowance:
    """A store of permissions that fills up with time."""

    def __init__(self, now: float) -> None:
        self._left = float(BURST)
        self._filled_at = now

    def kept(
        self, lines: Sequence[Item], now: float
    ) -> tuple[Sequence[Item], int, Sequence[Item]]:
        """Return the first lines, how many are left out, and the last ones."""
        self._left = min(BURST, self._left + (now - self._filled_at) * PER_SECOND)
        self._filled_at = now
        most = max(_FEWEST, int(self._left))
        self._left = max(0.0, self._left - min(len(lines), most))
        if len(lines) <= most:
            return lines, 0, ()
        # Of a flood, how it begins and what it has come to.
        last = most // 2
        return lines[: most - last], len(lines) - most, lines[len(lines) - last :]
