"""What carries on what a program writes, from its front to where its stream leads.

The program writes to a pseudo terminal or a pipe, and a small process carries that on to
the true one, with a copy for whoever stores it. Nothing else changes: the program has its
place in the shell's job, reads from the true terminal and has it for its controlling one.
So keys that interrupt, stop and continue it do what they always did, no mode of the true
terminal is ever changed, and there is nothing to put right, whoever is killed.

The process is one of its own so that the program goes on writing when what stores the
copy is slow, stopped or killed; should it be killed itself, who reads the copy carries on.
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

from seamark.capture.fronts import Front

# Of the copy, what waits for a reader that is behind: the newest, as what is said last
# matters most.
_MAX_WAITING = 1024 * 1024  # bytes
PIPE_SIZE = 1024 * 1024  # bytes; the most that Linux gives to everybody
PIECE = 65_536  # bytes
# How long the end of the copy waits for its reader.
_LAST_SECONDS = 2.0
_LOOK_SECONDS = 0.005
_LEFT_TO_THE_PROGRAM = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE),
)
# What the process tells, and where: bytes of the copy that were too many, how often it
# began or ended to carry something, whether nobody reads any more.
_LOST, _TURNS, _IS_UNREAD = range(3)
_WORD = 8  # bytes


class Relay:
    """The process that carries on what is written to a front."""

    def __init__(self, front: Front) -> None:
        """Raise OSError where there can be no such process."""
        self.front = front
        self.copy, copied = os.pipe()
        # Written by the process, read here.
        self._told = memoryview(mmap.mmap(-1, 3 * _WORD)).cast("Q")
        self._held = [front.ours]
        try:
            _prepare_pipe(self.copy, copied)
            self._process = os.fork()
        except OSError:
            for file in (front.ours, front.programs, self.copy, copied):
                os.close(file)
            raise
        if not self._process:
            _be_relay(front, _Copy(copied, self._told), self._told)
        os.close(copied)

    @property
    def process(self) -> int:
        return self._process

    @property
    def lost(self) -> int:
        """How many bytes of the copy were too many at once."""
        return self._told[_LOST]

    @property
    def is_unread(self) -> bool:
        """Whether the process has ended because nobody reads what the program writes."""
        return bool(self._told[_IS_UNREAD])

    def begin(self) -> None:
        """Leave the program's end to the program, which has been started."""
        os.close(self.front.programs)
        self.heed()

    def heed(self) -> None:
        """Let go where nobody reads; may interrupt anything."""
        if self.is_unread:
            self.close()

    def close(self) -> None:
        """Read no more: if nobody else does, whoever still writes is told so."""
        # Taken away first, as a signal may have it closed at any point.
        with contextlib.suppress(IndexError):
            os.close(self._held.pop())

    def wait(self, seconds: float, is_told_to_end: Callable[[], bool]) -> None:
        """Wait until everything is carried on that the program wrote.

        However long that takes, as the program itself would have waited; for others
        that it leaves behind and that may still write, only so many seconds.
        """
        deadline = time.monotonic() + seconds
        # By then all is carried on that is there now; what is in hand, too.
        enough = 2 * (self._size_of_rest() // PIECE + 2) + self._told[_TURNS]
        with contextlib.suppress(ChildProcessError):
            while not os.waitpid(self._process, os.WNOHANG)[0]:
                is_late = time.monotonic() > deadline
                if is_late and (self._has_carried(enough) or is_told_to_end()):
                    return
                time.sleep(_LOOK_SECONDS)

    def _has_carried(self, enough: int) -> bool:
        # In this order: what is taken away is counted before.
        is_taken = self._size_of_rest() == 0
        turns = self._told[_TURNS]
        return (is_taken and turns % 2 == 0) or turns >= enough or self.is_unread

    def _size_of_rest(self) -> int:
        try:
            size = fcntl.ioctl(self.front.ours, termios.FIONREAD, bytes(4))
        except OSError:
            return 0
        return int.from_bytes(size, sys.byteorder)


def read(file: int, most: int = PIECE) -> bytes | None:
    """Return what is there; None if nothing is yet, and nothing at the end."""
    try:
        return os.read(file, most)
    except BlockingIOError:
        return None
    except OSError:
        # How Linux says that nobody has a pseudo terminal's other end.
        return b""


def carry_on(front: Front, data: bytes) -> bool:
    """Write all of it, however long that takes; say whether there may be more."""
    try:
        while data:
            # Others may have made it one that does not wait.
            _wait(writable=front.outlet)
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(front.outlet, data) :]
    except OSError:
        return not front.ends_with_reader
    return True


def is_over(front: Front) -> bool:
    """Say whether nobody reads any more, and the program is to know."""
    return front.ends_with_reader and bool(_wait(watched=front.outlet, seconds=0))


def _prepare_pipe(copy: int, copied: int) -> None:
    os.set_blocking(copy, False)
    os.set_blocking(copied, False)
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(copied, fcntl.F_SETPIPE_SZ, PIPE_SIZE)


def _be_relay(front: Front, copy: _Copy, told: memoryview[int]) -> None:
    """Carry until nobody can write any more, or reads; the forked child's whole life."""
    try:
        # They mean the program, and it may have last words.
        for number in _LEFT_TO_THE_PROGRAM:
            signal.signal(number, signal.SIG_IGN)
        # Whoever waits for the end of something must not wait for this process.
        _close_all_but(front.ours, front.outlet, copy.file)
        told[_IS_UNREAD] = not _carry(front, copy, told)
        os.close(front.ours)
        copy.finish()
    finally:
        os._exit(0)


def _close_all_but(*kept: int) -> None:
    for path in list(Path("/dev/fd").iterdir()):
        if int(path.name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(path.name))


def _carry(front: Front, copy: _Copy, told: memoryview[int]) -> bool:
    """Return at the program's end of it, or its reader's; say if it was the program's."""
    watched = front.outlet if front.ends_with_reader else None
    while True:
        # Not by reading: killed in the midst of that, it might have taken what is lost then.
        ready = _wait(front.ours, copy.file if copy.is_behind else None, watched)
        copy.send()
        if front.outlet in ready:
            return False
        if front.ours not in ready:
            continue
        told[_TURNS] += 1
        data = read(front.ours)
        if not data:
            return True
        copy.put(data)
        # Of a program in another group than ours, nobody hears of a new size at once.
        front.match_size()
        if not carry_on(front, data):
            return False
        told[_TURNS] += 1


def _wait(
    readable: int | None = None,
    writable: int | None = None,
    watched: int | None = None,
    seconds: float | None = None,
) -> list[int]:
    """Wait until one is, or will never be; of the watched, only for that; return which."""
    poll = select.poll()
    if readable is not None:
        poll.register(readable, select.POLLIN)
    if writable is not None:
        poll.register(writable, select.POLLOUT)
    if watched is not None:
        # Errors and ends are told unasked.
        poll.register(watched, 0)
    return [file for file, _ in poll.poll(None if seconds is None else seconds * 1_000)]


class _Copy:
    """What was carried, for a reader who must never be waited for."""

    def __init__(self, file: int, told: memoryview[int]) -> None:
        self.file = file
        self._told = told
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._is_wanted = True

    @property
    def is_behind(self) -> bool:
        return bool(self._waiting)

    def put(self, data: bytes) -> None:
        if not self._is_wanted:
            return
        self._waiting.append(data)
        self._size += len(data)
        self.send()
        while self._size > _MAX_WAITING:
            oldest = self._waiting.popleft()
            self._size -= len(oldest)
            self._told[_LOST] += len(oldest)

    def send(self) -> None:
        """Send what the pipe takes."""
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
            # Who reads it has gone.
            self._is_wanted = False
            self._waiting.clear()

    def finish(self) -> None:
        """Wait a while for the reader to take the rest."""
        deadline = time.monotonic() + _LAST_SECONDS
        while self._waiting and time.monotonic() < deadline:
            _wait(writable=self.file, seconds=_LAST_SECONDS)
            self.send()
