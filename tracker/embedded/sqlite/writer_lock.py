"""A file lock that serializes all writers; one per connection."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

# The polling interval: short at first, as most writes take under 1 ms.
FIRST_PAUSE_SECONDS = 0.0005
LONGEST_PAUSE_SECONDS = 0.01


# Threads of one process wait here, because a thread lock wakes the next one at once.
_in_this_process: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


class WriterLock:
    """Excludes the locks of all other connections; acquiring it again has no effect.

    The kernel releases it when the process dies.
    """

    def __init__(self, path: str | None, *, timeout_seconds: float) -> None:
        """Without a path, for an in-memory database, it does nothing."""
        self._path = path
        self._timeout_seconds = timeout_seconds
        # Open only while the lock is held, so that nothing is left open.
        self._file: int | None = None

    @property
    def is_held(self) -> bool:
        return self._file is not None

    def acquire(self) -> None:
        if self.is_held or self._path is None:
            return

        deadline = time.monotonic() + self._timeout_seconds
        threads = _in_this_process[self._path]
        if not threads.acquire(timeout=self._timeout_seconds):
            raise busy()
        try:
            self._file = _locked_file(self._path, deadline)
        except BaseException:
            threads.release()
            raise

    def release(self) -> None:
        if self._file is not None and self._path is not None:
            file, self._file = self._file, None
            # A forked child may have a copy of the descriptor, so closing is not enough.
            fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)
            _in_this_process[self._path].release()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock in the block; keep it afterwards if it was held before."""
        was_held = self.is_held
        self.acquire()
        try:
            yield
        finally:
            if not was_held:
                self.release()


def _locked_file(path: str, deadline: float) -> int:
    """Wait for other processes; return the descriptor that holds the lock."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_until_locked(file, deadline)
    except BaseException:
        os.close(file)
        raise
    return file


def _wait_until_locked(file: int, deadline: float) -> None:
    pause_seconds = FIRST_PAUSE_SECONDS
    while not _is_locked(file):
        if time.monotonic() >= deadline:
            raise busy()
        time.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, LONGEST_PAUSE_SECONDS)


def _is_locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def busy() -> sqlite3.OperationalError:
    """Return SQLite's own timeout error, so that one handler covers both."""
    return sqlite3.OperationalError("database is locked")
