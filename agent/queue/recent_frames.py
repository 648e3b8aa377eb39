"""Frames of a living process that the tracker does not have yet, in memory too.

A disk may not give back what was written to it, or never again: as long as the tracker
keeps up, nothing of it is lost then, and otherwise it is known how much.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable

from seamark import messages
from seamark.queue.frames import Frame

_MAX_BYTES = 256 * 1024


class RecentFrames:
    """The last ones, and of all before them how many points they hold."""

    def __init__(self, most_bytes: int = _MAX_BYTES) -> None:
        self._most_bytes = most_bytes
        self._payloads: dict[int, bytes] = {}
        self._bytes = 0
        # Of the frames before those; the first of the counts is that of `_begin`.
        self._points = array("Q")
        self._begin = 1
        # The writer adds, and the sender takes away.
        self._changing = threading.Lock()

    def add(self, number: int, payload: bytes) -> None:
        """Remember what was written; numbers follow each other."""
        with self._changing:
            self._payloads[number] = payload
            self._bytes += len(payload)
            while self._bytes > self._most_bytes and len(self._payloads) > 1:
                first = next(iter(self._payloads))
                if not self._points:
                    self._begin = first
                self._points.append(messages.count_points(self._drop(first)))

    def forget(self, number: int) -> None:
        """The tracker has everything up to this one."""
        with self._changing:
            while self._payloads and next(iter(self._payloads)) <= number:
                self._drop(next(iter(self._payloads)))
            passed = max(0, number + 1 - self._begin)
            del self._points[:passed]
            self._begin += passed

    def payload(self, number: int) -> bytes | None:
        """Return what a frame holds; None if it is not in memory."""
        return self._payloads.get(number)

    def frames(self) -> list[Frame]:
        """Return the frames in memory, in order."""
        with self._changing:
            return [
                Frame(number, payload) for number, payload in self._payloads.items()
            ]

    def frames_from(self, number: int) -> list[Frame]:
        """Return a frame and those behind it; nothing if it is not in memory."""
        frames = self.frames()
        # Numbers follow each other.
        place = number - frames[0].number if frames else -1
        return frames[place:] if place >= 0 else []

    def count_points(self, numbers: Iterable[int]) -> int:
        """Return how many points and records are in frames, those in memory not counted."""
        with self._changing:
            places = (number - self._begin for number in numbers)
            return sum(self._points[i] for i in places if 0 <= i < len(self._points))

    def _drop(self, number: int) -> bytes:
        payload = self._payloads.pop(number)
        self._bytes -= len(payload)
        return payload
