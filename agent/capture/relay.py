"""Forwards a program's output to its destination and copies it for storage.

The program writes to a pseudo terminal or a pipe, and a small process forwards that to
the real destination. Nothing else changes: the program stays in the shell's job and
keeps the real terminal for input and as its controlling terminal. Keys such as Ctrl-C
and Ctrl-Z work as before, the terminal's modes never change, and nothing needs to be
restored after a kill.

A separate process lets the program write even if the reader of the copy is slow,
stopped or killed; if the relay itself is killed, the reader of the copy forwards.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import select
import signal
import sys
import termios
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from seamark.capture.pseudo_terminals import Front

# Limit of the queued copy for a slow reader; the newest output is kept.
_MAX_WAITING = 1024 * 1024  # bytes
PIPE_SIZE = 1024 * 1024  # bytes; the default maximum of Linux
PIECE = 65_536  # bytes
# How long the relay waits at its end for the reader of the copy.
_LAST_SECONDS = 2.0
_LOOK_SECONDS = 0.005
_LEFT_TO_THE_PROGRAM = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE),
)
# Fields in memory shared with the relay: lost bytes of the copy, how often it started
# or finished a transfer, and whether the destination has no reader.
_LOST, _TURNS, _IS_UNREAD = range(3)
_WORD = 8  # bytes


class Relay:
    """The process that forwards the output written to a front."""

    def __init__(self, front: Front) -> None:
        """Start it; OSError if no process can be started."""
        self.front = front
        self.copy, copied = os.pipe()
        # Written by the relay, read here.
        self._counters = memoryview(mmap.mmap(-1, 3 * _WORD)).cast("Q")
        self._descriptors = [front.ours]
        try:
            _prepare_pipe(self.copy, copied)
            self._process = os.fork()
        except OSError:
            for file in (front.ours, front.programs, self.copy, copied):
                os.close(file)
            raise
        if not self._process:
            _be_relay(front, _Copy(copied, self._counters), self._counters)
        os.close(copied)

    @property
    def process(self) -> int:
        return self._process

    @property
    def lost(self) -> int:
        """The number of bytes dropped from the copy."""
        return self._counters[_LOST]

    @property
    def is_unread(self) -> bool:
        """Whether the relay has ended because the destination has no reader."""
        return bool(self._counters[_IS_UNREAD])

    def begin(self) -> None:
        """Close the program's end after the program has started."""
        os.close(self.front.programs)
        self.heed()

    def heed(self) -> None:
        """Close our end if the destination has no reader; safe in signal handlers."""
        if self.is_unread:
            self.close()

    def close(self) -> None:
        """Stop reading; without other readers, the program's writes fail."""
        # Removed first, because a signal handler may call this at any point.
        with contextlib.suppress(IndexError):
            os.close(self._descriptors.pop())

    def wait(self, seconds: float, is_preempted: Callable[[], bool]) -> None:
        """Wait until all output of the program is forwarded.

        Without limit, as the program itself would have waited; for its remaining child
        processes, which may still write, only `seconds`.
        """
        deadline = time.monotonic() + seconds
        # By then the current content is forwarded, including the piece in transfer.
        enough = 2 * (self._size_of_rest() // PIECE + 2) + self._counters[_TURNS]
        with contextlib.suppress(ChildProcessError):
            while not os.waitpid(self._process, os.WNOHANG)[0]:
                is_late = time.monotonic() > deadline
                if is_late and (self._has_carried(enough) or is_preempted()):
                    return
                time.sleep(_LOOK_SECONDS)

    def _has_carried(self, enough: int) -> bool:
        # In this order, because a transfer is counted before its data is removed.
        is_taken = self._size_of_rest() == 0
        turns = self._counters[_TURNS]
        return (is_taken and turns % 2 == 0) or turns >= enough or self.is_unread

    def _size_of_rest(self) -> int:
        try:
            size = fcntl.ioctl(self.front.ours, termios.FIONREAD, bytes(4))
        except OSError:
            return 0
        return int.from_bytes(size, sys.byteorder)


def read(file: int, most: int = PIECE) -> bytes | None:
    """Return available data; None if there is none yet, b"" at the end."""
    try:
        return os.read(file, most)
    except BlockingIOError:
        return None
    except OSError:
        # Linux reports EIO when the other end of a pseudo terminal is closed.
        return b""


def carry_on(front: Front, data: bytes) -> bool:
    """Write all data without a timeout; return whether more may follow."""
    try:
        while data:
            # Another process may have made it non-blocking.
            _wait(writable=front.outlet)
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(front.outlet, data) :]
    except OSError:
        return not front.ends_with_reader
    return True


def is_over(front: Front) -> bool:
    """Return whether the destination has no reader and the program should notice."""
    return front.ends_with_reader and bool(_wait(watched=front.outlet, seconds=0))


def _prepare_pipe(copy: int, copied: int) -> None:
    os.set_blocking(copy, False)
    os.set_blocking(copied, False)
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(copied, fcntl.F_SETPIPE_SZ, PIPE_SIZE)


def _be_relay(front: Front, copy: _Copy, counters: memoryview[int]) -> None:
    """Forward until the program's end or its reader's; never returns (forked child)."""
    try:
        # These signals are for the program, which may still write output.
        for number in _LEFT_TO_THE_PROGRAM:
            signal.signal(number, signal.SIG_IGN)
        # Inherited descriptors must not delay others that wait for their end.
        _close_all_but(front.ours, front.outlet, copy.file)
        counters[_IS_UNREAD] = not _carry(front, copy, counters)
        os.close(front.ours)
        copy.finish()
    finally:
        os._exit(0)


def _close_all_but(*kept: int) -> None:
    for path in list(Path("/dev/fd").iterdir()):
        if int(path.name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(path.name))


def _carry(front: Front, copy: _Copy, counters: memoryview[int]) -> bool:
    """Forward output; return True at the program's end, False at its reader's."""
    watched = front.outlet if front.ends_with_reader else None
    while True:
        # Polls before reading: if it were killed in a read, the data would be lost.
        ready = _wait(front.ours, copy.file if copy.is_behind else None, watched)
        copy.send()
        if front.outlet in ready:
            return False
        if front.ours not in ready:
            continue
        counters[_TURNS] += 1
        data = read(front.ours)
        if not data:
            return True
        copy.put(data)
        # The relay gets no SIGWINCH if the program is in another process group.
        front.match_size()
        if not carry_on(front, data):
            return False
        counters[_TURNS] += 1


def _wait(
    readable: int | None = None,
    writable: int | None = None,
    watched: int | None = None,
    seconds: float | None = None,
) -> list[int]:
    """Wait until one is ready or fails, the watched one until it fails; return which."""
    poll = select.poll()
    if readable is not None:
        poll.register(readable, select.POLLIN)
    if writable is not None:
        poll.register(writable, select.POLLOUT)
    if watched is not None:
        # poll always reports errors and hang-ups.
        poll.register(watched, 0)
    return [file for file, _ in poll.poll(None if seconds is None else seconds * 1_000)]


class _Copy:
    """The copy of the forwarded output, for a reader that must not block the relay."""

    def __init__(self, file: int, counters: memoryview[int]) -> None:
        self.file = file
        self._counters = counters
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._is_needed = True

    @property
    def is_behind(self) -> bool:
        return bool(self._waiting)

    def put(self, data: bytes) -> None:
        if not self._is_needed:
            return
        self._waiting.append(data)
        self._size += len(data)
        self.send()
        while self._size > _MAX_WAITING:
            oldest = self._waiting.popleft()
            self._size -= len(oldest)
            self._counters[_LOST] += len(oldest)

    def send(self) -> None:
        """Send as much as the pipe takes."""
        try:
            while self._waiting:
                data = self._waiting[0]
                written = os.write(self.file, data)
                self._size -= written
                if written == len(data):
                    self._waiting.popleft()
                else:
                    self._waiting[0] = data[written:]
        except BlockingIOError:
            pass
        except OSError:
            # The reader has ended.
            self._is_needed = False
            self._waiting.clear()

    def finish(self) -> None:
        """Wait for the reader to take the rest, for a limited time."""
        deadline = time.monotonic() + _LAST_SECONDS
        while self._waiting and time.monotonic() < deadline:
            _wait(writable=self.file, seconds=_LAST_SECONDS)
            self.send()
