"""Reads bodies of clients that send without delay, without a second thread.

The thread that calls granian's read cannot respond until the call returns; a second
thread costs two context switches, much of the work for a small body. A client that has
sent several bodies at once is trusted to do so again. If it stalls, a watch thread
frees its quick slot and removes the trust. Only its own response has to wait until more
bytes arrive or the connection ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager

from tracker.errors import TooSlow
from tracker.server import body_timeouts
from tracker.server.body_timeouts import Places, Stream, as_it_comes, deserved_seconds

# Consecutive quick bodies before a client is trusted.
QUICK_IN_A_ROW = 8
# Above this number of clients, all lose their trust.
MAX_REMEMBERED = 10_000
# The watch thread ends after this long without a read.
IDLE_SECONDS = 60.0


class FastClients:
    """Clients whose bodies arrive at once, by a name that a client keeps."""

    def __init__(self) -> None:
        self._in_a_row: dict[Hashable, int] = {}

    def know(self, name: Hashable) -> bool:
        return self._in_a_row.get(name, 0) >= QUICK_IN_A_ROW

    def note(self, name: Hashable, *, was_quick: bool) -> None:
        """Record how a body arrived; of two concurrent calls one may be lost."""
        if name is None:
            return
        if not was_quick:
            self._in_a_row.pop(name, None)
        elif not self.know(name):
            if len(self._in_a_row) >= MAX_REMEMBERED:
                self._in_a_row.clear()
            self._in_a_row[name] = self._in_a_row.get(name, 0) + 1


class ReadingHere:
    """Reading a body in the thread that will respond."""

    def __init__(
        self,
        sender: Hashable,
        quick: Places,
        others: tuple[Places, Places],
        aside: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Start with a quick slot of the sender, which the end of the read releases.

        `others` are the slots of slow bodies and of abandoned ones.
        """
        self._sender, self._places, self._others = sender, quick, others
        self._aside = aside
        self._is_aside: AbstractContextManager[None] | None = None
        self._is_given_up = self._is_over = False
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self.is_slow = False

    def read(self, stream: Stream, size: int) -> bytes:
        """Return up to `size` bytes."""
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
        """Check, from the watch thread, whether the read has become slow."""
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
    """Checks running reads in a thread that exists only while there are any."""

    def __init__(self) -> None:
        # Changed without a lock: single set operations are atomic.
        self._readings: set[ReadingHere] = set()
        self._is_awake = False
        self._lock = threading.Lock()

    def begin(self, reading: ReadingHere) -> None:
        self._readings.add(reading)
        if not self._is_awake:
            with self._lock:
                if not self._is_awake:
                    self._is_awake = True
                    # A daemon thread, so that the server does not wait for it at
                    # shutdown.
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
                    # A read that began before `_is_awake` was reset started no thread.
                    if not self._readings:
                        return
                    self._is_awake = True


_watch = _Watch()
