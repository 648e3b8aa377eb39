"""What was logged and not yet written: a bounded queue without locks.

The training thread only appends to a deque, which is safe in signal handlers,
finalizers and logging handlers too: nothing here can be waited for.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from agent.values import Value

# About 80 MB, at a rate no training loop logs for long.
CAPACITY = 500_000

# Path, step (None: the one after the last), time in µs since 1970, value.
Point = tuple[str, float | None, int, float]


class SetValue(NamedTuple):
    """An attribute's new value."""

    path: str
    value: Value


class TagChange(NamedTuple):
    """Tags to add and to remove."""

    add: frozenset[str]
    remove: frozenset[str]


Item = Point | SetValue | TagChange


class Buffer:
    """Holds items until the writer takes them; drops and counts when full."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._items: deque[Item] = deque()
        self._dropped = 0
        # Re-entrant, because a signal handler may log while its thread counts.
        self._counting = threading.RLock()

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Item) -> None:
        """Queue an item, or count it as dropped."""
        if len(self._items) < self._capacity:
            self._items.append(item)
        else:
            self.count_dropped(1)

    def put_all(self, items: Sequence[Item]) -> None:
        """Queue as many items as fit, and count the rest as dropped."""
        room = max(0, self._capacity - len(self._items))
        self._items.extend(items[:room])
        if room < len(items):
            self.count_dropped(len(items) - room)

    def take(self, most: int) -> list[Item]:
        """Remove and return the oldest items."""
        count = min(most, len(self._items))
        return [self._items.popleft() for _ in range(count)]

    def count_dropped(self, count: int) -> None:
        """Remember that items were lost, until the tracker can be told."""
        with self._counting:
            self._dropped += count

    def take_dropped(self) -> int:
        """How many items were dropped since this was last asked."""
        with self._counting:
            dropped, self._dropped = self._dropped, 0
            return dropped
