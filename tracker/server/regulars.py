"""Reads the bodies of those who always send at once, without another thread.

A thread that makes granian's call itself cannot answer before that has returned; to have
another make it costs two changes of thread, which is much of the work of a small body.
So whoever has sent a few at once is trusted to send the next one so, too. If it stalls
after all, it is seen to by a thread that looks after all of them: it gives up its place
among the quick ones, and the sender is a stranger again. Only its answer has to wait
until more of it comes, or the connection ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager

from tracker.errors import TooSlow
from tracker.server import body_timeouts
from tracker.server.body_timeouts import Places, Stream, as_it_comes, deserved_seconds

# So many at once, one after the other.
QUICK_IN_A_ROW = 8
# Beyond that all are strangers again.
MAX_REMEMBERED = 10_000
# The thread that looks after readings ends when there were none for so long.
IDLE_SECONDS = 60.0


class Regulars:
    """Whose bodies come at once, by any name that a sender keeps."""

    def __init__(self) -> None:
        self._in_a_row: dict[Hashable, int] = {}

    def know(self, name: Hashable) -> bool:
        return self._in_a_row.get(name, 0) >= QUICK_IN_A_ROW

    def note(self, name: Hashable, *, was_quick: bool) -> None:
        """Note how a body came; of two notes at the same moment one may be lost."""
        if name is None:
            return
        if not was_quick:
            self._in_a_row.pop(name, None)
        elif not self.know(name):
            if len(self._in_a_row) >= MAX_REMEMBERED:
                self._in_a_row.clear()
            self._in_a_row[name] = self._in_a_row.get(name, 0) + 1


class ReadingHere:
    """The reading of a body by the thread that will answer."""

    def __init__(
        self,
        sender: Hashable,
        quick: Places,
        others: tuple[Places, Places],
        aside: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """The sender has a place among the quick ones, which the end gives back.

        The others are of slow ones, and of those that nobody waits for.
        """
        self._sender, self._places, self._others = sender, quick, others
        self._aside = aside
        self._is_aside: AbstractContextManager[None] | None = None
        self._is_given_up = self._is_over = False
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self.is_slow = False

    def read(self, stream: Stream, size: int) -> bytes:
        """Return so many bytes, or all there are."""
        _watch.begin(self)
        pieces: list[bytes] = []
        received = 0
        try:
            for piece in as_it_comes(stream, size):
                pieces.append(piece)
                received += len(piece)
                if received < size and self._is_too_slow(received):
                    raise TooSlow
        finally:
            _watch.end(self)
            self._end()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def look(self) -> None:
        """Find out, in another thread, whether it has become slow."""
        with self._lock:
            is_quick = time.monotonic() - self._began < body_timeouts.QUICK_SECONDS
            if is_quick or self.is_slow or self._is_over:
                return
            self.is_slow = True
            self._is_aside = self._aside()
            self._is_aside.__enter__()
            slow, abandoned = self._others
            is_waited_for = slow.take(self._sender)
            self._is_given_up = not is_waited_for
            if is_waited_for or abandoned.take(self._sender):
                self._places.give_back(self._sender)
                self._places = slow if is_waited_for else abandoned

    def _is_too_slow(self, received: int) -> bool:
        spent = time.monotonic() - self._began
        return self._is_given_up or spent > deserved_seconds(received)

    def _end(self) -> None:
        with self._lock:
            self._is_over = True
            self._places.give_back(self._sender)
            if self._is_aside is not None:
                self._is_aside.__exit__(None, None, None)


class _Watch:
    """Looks after readings, by a thread that is there while there are some."""

    def __init__(self) -> None:
        # Added to and taken from without a lock, which a set needs none for.
        self._readings: set[ReadingHere] = set()
        self._is_awake = False
        self._lock = threading.Lock()

    def begin(self, reading: ReadingHere) -> None:
        self._readings.add(reading)
        if not self._is_awake:
            with self._lock:
                if not self._is_awake:
                    self._is_awake = True
                    # Not waited for when the server ends.
                    threading.Thread(
                        target=self._work, name="slow bodies", daemon=True
                    ).start()

    def end(self, reading: ReadingHere) -> None:
        self._readings.discard(reading)

    def _work(self) -> None:
        last = time.monotonic()
        while True:
            time.sleep(body_timeouts.QUICK_SECONDS / 2)
            readings = self._readings.copy()
            for reading in readings:
                reading.look()
            if readings:
                last = time.monotonic()
            elif time.monotonic() - last > IDLE_SECONDS:
                with self._lock:
                    self._is_awake = False
                    # One that was begun before it could see that has to be seen here.
                    if not self._readings:
                        return
                    self._is_awake = True


_watch = _Watch()
