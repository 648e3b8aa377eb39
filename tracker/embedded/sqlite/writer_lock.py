"""A lock on a file, for one connection; everybody who writes waits for it."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

# How long to wait before looking again: short first, as most writes take under 1 ms.
FIRST_PAUSE_SECONDS = 0.0005
LONGEST_PAUSE_SECONDS = 0.01


# Threads of one process wait here, where whoever is done wakes the next one at once.
_in_this_process: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


class WriterLock:
    """Excludes the locks of all other connections; taking it twice is taking it once.

    The kernel gives it back when its process dies.
    """

    def __init__(self, path: str | None, *, timeout_seconds: float) -> None:
        """Without a path, for a database in memory, it does nothing."""
        self._path = path
        self._timeout_seconds = timeout_seconds
        self._descriptor: int | None = None
        self.is_held = False

    def acquire(self) -> None:
        if self.is_held or self._path is None:
            return

        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + self._timeout_seconds
        threads = _in_this_process[self._path]
        if not threads.acquire(timeout=self._timeout_seconds):
            raise busy()
        try:
            self._wait_for_other_processes(deadline)
        except BaseException:
            threads.release()
            raise
        self.is_held = True

    def release(self) -> None:
        if self.is_held and self._descriptor is not None and self._path is not None:
            self.is_held = False
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            _in_this_process[self._path].release()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock during the block, and after it if it was held before."""
        was_held = self.is_held
        self.acquire()
        try:
            yield
        finally:
            if not was_held:
                self.release()

    def dispose(self) -> None:
        """Release the lock and let go of the file."""
        self.release()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _wait_for_other_processes(self, deadline: float) -> None:
        pause_seconds = FIRST_PAUSE_SECONDS
        while not self._try():
            if time.monotonic() >= deadline:
                raise busy()
            time.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, LONGEST_PAUSE_SECONDS)

    def _try(self) -> bool:
        assert self._descriptor is not None  # acquire() opened it
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def busy() -> sqlite3.OperationalError:
    """Return what SQLite says when it waited in vain, so that one handler serves both."""
    return sqlite3.OperationalError("database is locked")
