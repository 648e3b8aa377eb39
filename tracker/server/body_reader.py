"""Read request bodies with a timeout that depends on their progress.

granian's read call blocks until the requested bytes have arrived; it has no timeout and
cannot be interrupted. A separate thread makes the call while the request thread watches
the clock. A response sent before the call returns must stay open until it does
(`Lingering`).

A body that has not arrived within 0.25 s is slow. Slow bodies have their own slots,
limited per sender, so that they cannot block quick ones.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from queue import SimpleQueue
from typing import TYPE_CHECKING

from django.db import connections
from django.http import HttpRequest

from tracker.errors import TooSlow, Unavailable
from tracker.server import body_timeouts
from tracker.server.body_timeouts import Places, Stream, as_it_comes, deserved_seconds
from tracker.server.processes import ABANDONED_AT_ONCE
from tracker.server.statements import database

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

# WSGI key of a read that is still blocked when its request has been answered.
UNFINISHED = "seamark.unfinished_reading"


class Reading:
    """A part of a body, read in a thread that may block forever."""

    def __init__(self, stream: Stream, size: int) -> None:
        self._stream, self._size = stream, size
        self._content = bytearray()
        self._error: Exception | None = None
        self._is_given_up = False
        self._is_over = False
        # Held while reading; an Event takes several times as long.
        self._under_way = threading.Lock()
        self._under_way.acquire()
        self._lock = threading.Lock()
        self._at_end: Callable[[], None] | None = None

    @property
    def received(self) -> int:
        return len(self._content)

    def carry_out(self) -> None:
        try:
            self._read()
        except Exception as error:  # noqa: BLE001 - raised in result()
            self._error = error
        finally:
            with self._lock:
                self._is_over = True
            if self._at_end is not None:
                self._at_end()
            self._under_way.release()

    def _read(self) -> None:
        for piece in as_it_comes(self._stream, self._size):
            self._content += piece
            if self._is_given_up:
                return

    def wait(self, seconds: float = -1) -> bool:
        """Return whether reading is done, after at most `seconds`; -1 waits forever."""
        is_over = self._under_way.acquire(timeout=seconds)
        if is_over:
            self._under_way.release()
        return is_over

    def give_up(self) -> None:
        """Have the thread stop when the next bytes arrive."""
        self._is_given_up = True

    def at_end(self, call: Callable[[], None]) -> None:
        """Call `call` when the thread has stopped reading, at once if it already has."""
        with self._lock:
            if not self._is_over:
                self._at_end = call
                return
        call()

    def result(self) -> bytearray:
        if self._error is not None:
            raise self._error
        return self._content


class Arrivals:
    """The slots for reading bodies of one kind; one instance per server process."""

    def __init__(self, quick: Places, slow: Places, *, wait_seconds: float) -> None:
        self._quick, self._slow = quick, slow
        self._wait_seconds = wait_seconds

    def read(
        self,
        request: HttpRequest,
        size: int,
        sender: Hashable,
        *,
        aside: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> bytearray:
        """Return up to `size` bytes of a body; hold `aside` while it is slow."""
        self._take_quick_place(sender)
        places = self._quick
        reading = begun(request, size)
        try:
            if not reading.wait(body_timeouts.QUICK_SECONDS):
                if not self._slow.take(sender):
                    if _abandoned.take(sender):
                        self._quick.give_back(sender)
                        places = _abandoned
                    abandon(reading, request)
                    raise TooSlow
                self._quick.give_back(sender)
                places = self._slow
                with aside():
                    wait_patiently(reading, request)
        finally:
            # The slot stays taken until its thread is free.
            reading.at_end(lambda: places.give_back(sender))
        return reading.result()

    def pieces(
        self, request: HttpRequest, size: int, sender: Hashable, *, piece_bytes: int
    ) -> Generator[bytes]:
        """Yield a body in pieces as they arrive."""
        self._take_quick_place(sender)
        began, received = time.monotonic(), 0
        reading = begun(request, 0)
        try:
            while received < size:
                reading = begun(request, min(piece_bytes, size - received))
                wait_patiently(reading, request, began=began, before=received)
                piece = bytes(reading.result())
                if not piece:
                    return
                received += len(piece)
                yield piece
        finally:
            reading.at_end(lambda: self._quick.give_back(sender))

    def _take_quick_place(self, sender: Hashable) -> None:
        _release_connection()
        # A sender with too many slow bodies does not wait for a slot.
        is_patient = self._slow.are_free_for(sender)
        if not self._quick.take(sender, self._wait_seconds if is_patient else 0.0):
            raise Unavailable


def _release_connection() -> None:
    """Return this thread's connection to the pool while the client sends."""
    connection = database()
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        connection.close()


def begun(request: HttpRequest, size: int) -> Reading:
    reading = Reading(request, size)
    _threads.start(reading.carry_out)
    return reading


def wait_patiently(
    reading: Reading,
    request: HttpRequest,
    *,
    began: float | None = None,
    before: int = 0,
) -> None:
    """Wait for the read; raise TooSlow when the body exceeds its time since `began`."""
    began = time.monotonic() - body_timeouts.QUICK_SECONDS if began is None else began
    while True:
        deserved = deserved_seconds(before + reading.received)
        left = began + deserved - time.monotonic()
        if reading.wait(max(0.0, left)):
            return
        if left <= 0:
            abandon(reading, request)
            raise TooSlow


def abandon(reading: Reading, request: HttpRequest) -> None:
    reading.give_up()
    request.META[UNFINISHED] = reading


class Lingering:
    """A WSGI application that keeps responses open until the request has been read.

    granian reclaims the body when the application has returned, and blocks until it has
    it. The client already has the response by then and closes the connection.
    """

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        answer = self._application(environ, start_response)
        reading = environ.get(UNFINISHED)
        return answer if reading is None else _lingering(answer, reading)


def _lingering(answer: Iterable[bytes], reading: Reading) -> Iterator[bytes]:
    try:
        yield from answer
    finally:
        if (close := getattr(answer, "close", None)) is not None:
            close()
        # A client with its response may keep the connection open indefinitely.
        connections.close_all()
        reading.wait()


class _Threads:
    """A thread pool that grows to the number of concurrent calls and reuses threads."""

    def __init__(self) -> None:
        self._calls = SimpleQueue[Callable[[], None]]()
        self._lock = threading.Lock()
        self._idle = 0

    def start(self, call: Callable[[], None]) -> None:
        with self._lock:
            is_one_idle = self._idle > 0
            if is_one_idle:
                self._idle -= 1
        if not is_one_idle:
            # A daemon thread, so that the server does not wait for it at shutdown.
            threading.Thread(target=self._work, name="body", daemon=True).start()
        self._calls.put(call)

    def _work(self) -> None:
        while True:
            self._calls.get()()
            with self._lock:
                self._idle += 1


_threads = _Threads()
# Shared by all kinds: bodies answered early because too many are slow, whose threads
# stay blocked until the client closes the connection.
_abandoned = Places(ABANDONED_AT_ONCE, ABANDONED_AT_ONCE // 2)
