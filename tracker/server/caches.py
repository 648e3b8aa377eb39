"""An LRU cache limited by the total weight of its entries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memory(Generic[Key, Value]):
    """A thread-safe LRU dictionary of bounded weight."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._found: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            if key not in self._found:
                return None
            self._found.move_to_end(key)
            return self._found[key][0]

    def remember(self, key: Key, value: Value, weight: int) -> None:
        """Store a value, replacing an older one."""
        with self._lock:
            _, replaced = self._found.pop(key, (None, 0))
            self._found[key] = value, weight
            self._weight += weight - replaced
            while self._weight > self._most:
                _, (_, forgotten) = self._found.popitem(last=False)
                self._weight -= forgotten
