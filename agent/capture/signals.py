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
_MAX_READ = 65_536  # bytes
# Longer than any scheduler waits by default before it kills: a process that goes on for
# longer than this was not ended by the signal.
GRACE_SECONDS = 600.0


class _Pipe:
    """The pipe that Python writes signals' numbers to: one for all runs of a process.

    Once made it stays. An event loop remembers whose descriptor it has replaced and puts
    that back as it ends, by when no run may be open any longer; and a closed one raises.
    """

    def __init__(self) -> None:
        self._read_end = -1
        self._write_end = -1
        self._readers: tuple[Signals, ...] = ()
        # Who ends must not miss what another has just read. Re-entrant, because a
        # handler may end the run.
        self.reading = threading.RLock()

    def add(self, reader: Signals) -> bool:
        """Tell a run of signals from now on; False if none will be seen."""
        with contextlib.suppress(OSError, ValueError):
            # No descriptor is left, or somebody has closed theirs, or this is not the
            # main interpreter.
            self._take_place()
        if self._write_end < 0:
            return False
        with self.reading:
            self.read()
            self._readers = (*self._readers, reader)
        return True

    def remove(self, reader: Signals) -> None:
        """Tell a run no more; with the last one, have nothing written, if possible."""
        with self.reading:
            self._readers = tuple(r for r in self._readers if r is not reader)
        if not self._readers:
            # ValueError: only the main thread may say so.
            with contextlib.suppress(OSError, ValueError):
                self._release()

    def read(self) -> None:
        """Tell every run which signals came."""
        with self.reading:
            try:
                numbers = os.read(self._read_end, _MAX_READ)
            except OSError:
                return  # nothing there
            for reader in self._readers:
                reader.note(numbers)

    def forget(self) -> None:
        """In a forked child, whose signals are not its parent's."""
        self.reading = threading.RLock()
        self._readers = ()
        if self._write_end < 0:
            return
        with contextlib.suppress(OSError, ValueError):
            self._release()
        with contextlib.suppress(OSError):
            self._leave_to_parent()
        self._read_end = self._write_end = -1

    def _take_place(self) -> None:
        """Have Python write here, unless it writes elsewhere for somebody else."""
        if threading.current_thread() is not threading.main_thread():
            return
        # It would warn that somebody else was here first.
        if "trio" in sys.modules:
            return
        before = signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        if before not in (self._write_end, -1):
            # An event loop that needs them.
            signal.set_wakeup_fd(before, warn_on_full_buffer=False)
            return
        if self._write_end < 0:
            self._read_end, self._write_end = os.pipe()
            for end in (self._read_end, self._write_end):
                os.set_blocking(end, False)
        signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)

    def _release(self) -> None:
        before = signal.set_wakeup_fd(-1)
        if before not in (self._write_end, -1):
            # Somebody took our place.
            signal.set_wakeup_fd(before, warn_on_full_buffer=False)

    def _leave_to_parent(self) -> None:
        """Have the number lead nowhere: a loop that ends in the child puts it back."""
        os.close(self._read_end)
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            os.close(self._write_end)
            raise
        os.dup2(nowhere, self._write_end, inheritable=False)
        os.close(nowhere)


_pipe = _Pipe()
os.register_at_fork(after_in_child=_pipe.forget)


class Signals:
    """The signals that come while one run is open."""

    def __init__(self) -> None:
        self._come: list[str] = []
        self._seen: set[str] = set()
        self._told_at = float("-inf")

    @property
    def was_told_to_end(self) -> bool:
        """Whether SIGTERM came, so short a while ago that the process may end by it."""
        # It may have come this very moment.
        _pipe.read()
        return time.monotonic() < self._told_at + GRACE_SECONDS

    def open(self) -> bool:
        """Begin to see signals; False where somebody else sees them already."""
        return _pipe.add(self)

    def take(self) -> list[str]:
        """Return the names of signals that came for the first time."""
        with _pipe.reading:
            _pipe.read()
            come, self._come = self._come, []
        return come

    def close(self) -> None:
        """See nothing more."""
        _pipe.remove(self)

    def note(self, numbers: bytes) -> None:
        """Remember which came; called by whoever reads the pipe."""
        if signal.SIGTERM in numbers:
            self._told_at = time.monotonic()
        for number in dict.fromkeys(numbers):
            name = signal.Signals(number).name if number in _TOLD else ""
            if name and name not in self._seen:
                self._seen.add(name)
                self._come.append(name)
