"""Keeps frames of a live process in memory until the server has them.

If the disk fails, nothing is lost as long as the server keeps up; otherwise the number
of lost points is known.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable

from seamark import messages
from seamark.queue.frames import Frame

_MAX_BYTES = 256 * 1024


class RecentFrames:
    """The last frames, and the number of points in each frame before them."""

    def __init__(self, most_bytes: int = _MAX_BYTES) -> None:
        self._most_bytes = most_bytes
        self._payloads: dict[int, bytes] = {}
        self._bytes = 0
        # Point counts of earlier frames; the first count belongs to frame `_begin`.
        self._points = array("Q")
        self._begin = 1
        # The writer adds frames, and the sender removes them.
        self._changing = threading.Lock()

    def add(self, number: int, payload: bytes) -> None:
        """Keep a written frame; numbers are consecutive."""
        with self._changing:
            self._payloads[number] = payload
            self._bytes += len(payload)
            while self._bytes > self._most_bytes and len(self._payloads) > 1:
                first = next(iter(self._payloads))
                if not self._points:
                    self._begin = first
                self._points.append(messages.count_points(self._drop(first)))

    def forget(self, number: int) -> None:
        """Drop everything up to a frame that the server has acknowledged."""
        with self._changing:
            while self._payloads and next(iter(self._payloads)) <= number:
                self._drop(next(iter(self._payloads)))
            passed = max(0, number + 1 - self._begin)
            del self._points[:passed]
            self._begin += passed

    def payload(self, number: int) -> bytes | None:
        """Return a frame's payload; None if it is not in memory."""
        return self._payloads.get(number)

    def frames(self) -> list[Frame]:
        """Return the frames in memory, in order."""
        with self._changing:
            return [
                Frame(number, payload) for number, payload in self._payloads.items()
            ]

    def frames_from(self, number: int) -> list[Frame]:
        """Return a frame and those after it; an empty list if it is not in memory."""
        frames = self.frames()
        # Numbers are consecutive.
        place = number - frames[0].number if frames else -1
        return frames[place:] if place >= 0 else []

    def count_points(self, numbers: Iterable[int]) -> int:
        """Return the number of points and records in frames that are no longer in
        memory.
        """
        with self._changing:
            places = (number - self._begin for number in numbers)
            return sum(self._points[i] for i in places if 0 <= i < len(self._points))

    def _drop(self, number: int) -> bytes:
        payload = self._payloads.pop(number)
        self._bytes -= len(payload)
        return payload
