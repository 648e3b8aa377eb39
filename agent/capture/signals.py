"""Which signals came, while whoever handles them goes on doing so.

Handlers are left alone, those that are installed later, too. For each signal that
somebody handles, Python can write its number to a pipe, and here is the other end.
A signal that nobody handles ends the process before anything could be said about it.

SIGTERM is how schedulers, containers and people tell a process to end. Which of them it
was, and why, the process cannot know; SIGUSR1 and others mean what the script says.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time

# What schedulers and people send to say that the end is near.
_TOLD = frozenset(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGXCPU")
    if hasattr(signal, name)
)
# What the pipe holds: handlers may be called a thousand times a second.
_MOST_READ = 65_536  # bytes
# Longer than any scheduler waits by default before it kills: a process that goes on for
# longer than this was not ended by the signal.
GRACE_SECONDS = 600.0


class Signals:
    """The pipe that Python writes signals' numbers to."""

    def __init__(self) -> None:
        self._read_end = -1
        self._write_end = -1
        self._seen: set[str] = set()
        self._told_at = float("-inf")
        # A descriptor that was closed may be somebody else's, and who ends must not miss
        # what another has just read. Re-entrant, because a handler may end the run.
        self._reading = threading.RLock()

    @property
    def was_told_to_end(self) -> bool:
        """Whether SIGTERM came, so short a while ago that the process may end by it."""
        return time.monotonic() < self._told_at + GRACE_SECONDS

    def open(self) -> bool:
        """Begin to see signals; False where somebody else sees them already."""
        if threading.current_thread() is not threading.main_thread():
            return False
        # It would warn that somebody else was here first.
        if "trio" in sys.modules:
            return False
        read_end, write_end = os.pipe()
        for end in (read_end, write_end):
            os.set_blocking(end, False)
        before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        if before != -1:
            # An event loop that needs them.
            signal.set_wakeup_fd(before)
            os.close(read_end)
            os.close(write_end)
            return False
        self._read_end, self._write_end = read_end, write_end
        return True

    def take(self) -> list[str]:
        """Return the names of signals that came for the first time."""
        with self._reading:
            names = self._told()
            new = [name for name in names if name not in self._seen]
            self._seen.update(new)
        return new

    def close(self) -> None:
        """See nothing more, if this is the main thread; others may not say so."""
        if self._write_end < 0:
            return
        if threading.current_thread() is not threading.main_thread():
            return  # two descriptors stay open until the process ends
        self._release()
        self._close_ends()

    def forget(self) -> None:
        """In a forked child, whose signals are not its parent's."""
        self._reading = threading.RLock()
        if self._write_end >= 0:
            with contextlib.suppress(ValueError, OSError):
                self._release()
            self._close_ends()

    def _told(self) -> list[str]:
        if self._read_end < 0:
            return []
        try:
            numbers = os.read(self._read_end, _MOST_READ)
        except OSError:
            return []  # nothing there
        if signal.SIGTERM in numbers:
            self._told_at = time.monotonic()
        return [signal.Signals(n).name for n in dict.fromkeys(numbers) if n in _TOLD]

    def _release(self) -> None:
        before = signal.set_wakeup_fd(-1)
        if before not in (self._write_end, -1):
            # Somebody took our place.
            signal.set_wakeup_fd(before, warn_on_full_buffer=False)

    def _close_ends(self) -> None:
        with self._reading, contextlib.suppress(OSError):
            read_end, write_end = self._read_end, self._write_end
            self._read_end = self._write_end = -1
            os.close(read_end)
            os.close(write_end)
