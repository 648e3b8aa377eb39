"""How long a body may take, and how many may at once."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Protocol

# From then on a body is slow.
QUICK_SECONDS = 0.25
# It may take so long, and another second for each so many bytes that have come.
PATIENCE_SECONDS = 10.0
SLOWEST_BYTES_A_SECOND = 4 * 1024
# What is asked for at once: little of those who send slowly, or nobody would see what
# has come; more and more of the others.
SMALLEST_PIECE_BYTES, LARGEST_PIECE_BYTES = 16 * 1024, 256 * 1024
PIECE_SECONDS = 0.05


class Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Places:
    """So many at once, and only a part of them for one sender."""

    def __init__(self, total: int, each: int) -> None:
        self._total, self._each = total, each
        self._changed = threading.Condition(threading.Lock())
        self._taken = Counter[Hashable]()

    def take(self, sender: Hashable, wait_seconds: float = 0.0) -> bool:
        with self._changed:
            is_free = self._are_free_for(sender) or self._changed.wait_for(
                lambda: self._are_free_for(sender), wait_seconds
            )
            if is_free:
                self._taken[sender] += 1
            return is_free

    def give_back(self, sender: Hashable) -> None:
        with self._changed:
            self._taken[sender] -= 1
            if not self._taken[sender]:
                del self._taken[sender]
            self._changed.notify_all()

    def are_free_for(self, sender: Hashable) -> bool:
        with self._changed:
            return self._are_free_for(sender)

    def _are_free_for(self, sender: Hashable) -> bool:
        is_within_share = self._taken[sender] < self._each
        return is_within_share and sum(self._taken.values()) < self._total


def deserved_seconds(received: int) -> float:
    """Return how long a body may take of which so much has come."""
    return PATIENCE_SECONDS + received / SLOWEST_BYTES_A_SECOND


def as_it_comes(stream: Stream, size: int) -> Iterator[bytes]:
    """Yield so many bytes of a body, or all there are, in pieces."""
    left, piece_bytes = size, SMALLEST_PIECE_BYTES
    while left:
        began = time.monotonic()
        piece = stream.read(min(piece_bytes, left))
        if not piece:
            return
        is_quick = time.monotonic() - began < PIECE_SECONDS
        left -= len(piece)
        yield piece
        piece_bytes = 2 * piece_bytes if is_quick else SMALLEST_PIECE_BYTES
        piece_bytes = min(piece_bytes, LARGEST_PIECE_BYTES)
