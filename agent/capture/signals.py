"""Records received signals without replacing the script's handlers.

For each signal with a Python handler, Python can write its number to a pipe, which is
read here; later handlers work too. A signal without a handler ends the process before
anything can be recorded.

SIGTERM is how schedulers, containers and users end a process; the process cannot
determine the sender or the reason. SIGUSR1 and others have a meaning defined by the
script.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time

# Signals that schedulers and users send before the end.
_PREEMPTION = frozenset(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGXCPU")
    if hasattr(signal, name)
)
# The pipe's capacity: handlers may be called a thousand times a second.
_MAX_READ = 65_536  # bytes
# Longer than any scheduler's default grace period: a process that runs longer than this
# was not ended by the signal.
GRACE_SECONDS = 600.0


class _Pipe:
    """The wake-up pipe for signals, shared by all runs of a process.

    It is never closed: an event loop stores the descriptor that it replaces and
    restores it at its end, possibly after the last run, and a closed descriptor would
    raise.
    """

    def __init__(self) -> None:
        self._read_end = -1
        self._write_end = -1
        self._readers: tuple[Signals, ...] = ()
        # A run that ends must not miss signals that another has just read. Re-entrant,
        # because a handler may end the run.
        self.reading = threading.RLock()

    def add(self, reader: Signals) -> bool:
        """Report signals to a run from now on; False if none can be seen."""
        with contextlib.suppress(OSError, ValueError):
            # No descriptor is left, the other descriptor is closed, or this is not the
            # main interpreter.
            self._take_place()
        if self._write_end < 0:
            return False
        with self.reading:
            self.read()
            self._readers = (*self._readers, reader)
        return True

    def remove(self, reader: Signals) -> None:
        """Stop reporting to a run; with the last one, restore the wake-up descriptor."""
        with self.reading:
            self._readers = tuple(r for r in self._readers if r is not reader)
        if not self._readers:
            # ValueError: only the main thread may set it.
            with contextlib.suppress(OSError, ValueError):
                self._release()

    def read(self) -> None:
        """Report new signals to every run."""
        with self.reading:
            try:
                numbers = os.read(self._read_end, _MAX_READ)
            except OSError:
                return  # no new signals
            for reader in self._readers:
                reader.note(numbers)

    def forget(self) -> None:
        """Reset in a forked child, which receives its own signals."""
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
        """Set the wake-up descriptor, unless other code has set one."""
        if threading.current_thread() is not threading.main_thread():
            return
        # Trio would warn about an existing descriptor.
        if "trio" in sys.modules:
            return
        before = signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        if before not in (self._write_end, -1):
            # An event loop needs its own descriptor.
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
            # Other code has replaced it.
            signal.set_wakeup_fd(before, warn_on_full_buffer=False)

    def _leave_to_parent(self) -> None:
        """Point the number to /dev/null, for an event loop in the child that restores
        it.
        """
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
    """The signals received while one run is open."""

    def __init__(self) -> None:
        self._come: list[str] = []
        self._seen: set[str] = set()
        self._preempted_at = float("-inf")

    @property
    def was_preempted(self) -> bool:
        """Whether SIGTERM came recently enough to be the cause of the end."""
        # It may have come just now.
        _pipe.read()
        return time.monotonic() < self._preempted_at + GRACE_SECONDS

    def open(self) -> bool:
        """Start recording; False if other code receives the signals."""
        return _pipe.add(self)

    def take(self) -> list[str]:
        """Return the names of signals received for the first time since the last call."""
        with _pipe.reading:
            _pipe.read()
            come, self._come = self._come, []
        return come

    def close(self) -> None:
        """Stop recording."""
        _pipe.remove(self)

    def note(self, numbers: bytes) -> None:
        """Record signal numbers; called by the reader of the pipe."""
        if signal.SIGTERM in numbers:
            self._preempted_at = time.monotonic()
        for number in dict.fromkeys(numbers):
            name = signal.Signals(number).name if number in _PREEMPTION else ""
            if name and name not in self._seen:
                self._seen.add(name)
                self._come.append(name)
