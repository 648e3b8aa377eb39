"""Timeouts and concurrency limits for request bodies."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Protocol

# A body that takes longer is slow.
QUICK_SECONDS = 0.25
# Base timeout of a body; it grows by one second per SLOWEST_BYTES_A_SECOND received.
PATIENCE_SECONDS = 10.0
SLOWEST_BYTES_A_SECOND = 4 * 1024
# Bytes per read call: small for slow senders, so that progress is visible, growing for
# fast ones.
SMALLEST_PIECE_BYTES, LARGEST_PIECE_BYTES = 16 * 1024, 256 * 1024
PIECE_SECONDS = 0.05


class Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Places:
    """Slots with a total limit and a limit per sender."""

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
    """Return the time that a body may take after `received` bytes."""
    return PATIENCE_SECONDS + received / SLOWEST_BYTES_A_SECOND


def as_it_comes(stream: Stream, size: int) -> Iterator[bytes]:
    """Yield up to `size` bytes of a body in pieces."""
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
