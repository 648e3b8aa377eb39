"""A terminal of a program's own, in front of the one that shows what it writes.

The program writes to a pseudo terminal, and a small process carries that on to the true
one, with a copy for whoever stores it. Nothing else changes: the program has its place in
the shell's job, reads from the true terminal and has it for its controlling one. So keys
that interrupt, stop and continue it do what they always did, no mode of the true terminal
is ever changed, and there is nothing to put right, whoever is killed.

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
import struct
import termios
import time
from collections import deque
from pathlib import Path

# Of the copy, what waits for a reader that is behind: the newest, as what is said last
# matters most.
_MOST_WAITING = 1024 * 1024  # bytes
PIPE_SIZE = 1024 * 1024  # bytes; the most that Linux gives to everybody
PIECE = 65_536  # bytes
# How long the end of the copy waits for its reader.
_LAST_SECONDS = 2.0
_LOOK_SECONDS = 0.005
_LEFT_TO_THE_PROGRAM = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE),
)
_OUTPUT_MODES = 1  # where tcgetattr has them
_SIZE = struct.pack("HHHH", 0, 0, 0, 0)
_COUNT = struct.Struct("<Q")


class Relay:
    """A pseudo terminal, and the process that carries on what is written to it."""

    def __init__(self, terminal: int) -> None:
        """Raise OSError where there are no pseudo terminals."""
        self.terminal = terminal
        self.ours, self.programs = os.openpty()
        self.copy, copied = os.pipe()
        self._size = _SIZE
        # Written by the process, read here.
        self._lost = mmap.mmap(-1, _COUNT.size)
        try:
            _make_like(self.programs, terminal)
            self.match_size()
            _prepare_pipe(self.copy, copied)
            self._process = os.fork()
        except OSError:
            for file in (self.ours, self.programs, self.copy, copied):
                os.close(file)
            raise
        if not self._process:
            _be_relay(self.ours, terminal, _Copy(copied, self._lost))
        os.close(copied)

    @property
    def process(self) -> int:
        return self._process

    @property
    def lost(self) -> int:
        """How many bytes of the copy were too many at once."""
        count: int = _COUNT.unpack_from(self._lost)[0]
        return count

    def match_size(self) -> bool:
        """Give the program's terminal the size of the true one; say if that is news."""
        size = _match_size(self.ours, self.terminal, self._size)
        is_news = size != self._size
        self._size = size
        return is_news

    def begin(self) -> None:
        """Leave the program's end to the program, which has been started."""
        os.close(self.programs)

    def wait(self, seconds: float) -> None:
        """Wait until everything is shown that the program wrote, if that is soon.

        It is not where the program leaves others behind that may still write.
        """
        deadline = time.monotonic() + seconds
        with contextlib.suppress(ChildProcessError):
            while not os.waitpid(self._process, os.WNOHANG)[0]:
                if time.monotonic() > deadline:
                    return
                time.sleep(_LOOK_SECONDS)


def read(file: int, most: int = PIECE) -> bytes | None:
    """Return what is there; None if nothing is yet, and nothing at the end."""
    try:
        return os.read(file, most)
    except BlockingIOError:
        return None
    except OSError:
        # How Linux says that nobody has a pseudo terminal's other end.
        return b""


def show(terminal: int, data: bytes) -> bool:
    """Write all of it, however long that takes; say whether there was a terminal."""
    try:
        while data:
            # Others may have made it one that does not wait.
            _wait(writable=terminal)
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(terminal, data) :]
    except OSError:
        return False
    return True


def _make_like(programs: int, terminal: int) -> None:
    try:
        modes = termios.tcgetattr(terminal)
        # Ends of lines and the like are left to the true one, whatever its modes are.
        modes[_OUTPUT_MODES] &= ~termios.OPOST
        termios.tcsetattr(programs, termios.TCSANOW, modes)
    except termios.error as error:
        raise OSError(*error.args) from error


def _match_size(ours: int, terminal: int, known: bytes) -> bytes:
    """Return the true terminal's size, which the other one has then."""
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(terminal, termios.TIOCGWINSZ, _SIZE)
        if size != known:
            fcntl.ioctl(ours, termios.TIOCSWINSZ, size)
        return size
    return known


def _prepare_pipe(copy: int, copied: int) -> None:
    os.set_blocking(copy, False)
    os.set_blocking(copied, False)
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(copied, fcntl.F_SETPIPE_SZ, PIPE_SIZE)


def _be_relay(ours: int, terminal: int, copy: _Copy) -> None:
    """Carry until nobody can write any more; the forked child's whole life."""
    try:
        # They mean the program, and it may have last words.
        for number in _LEFT_TO_THE_PROGRAM:
            signal.signal(number, signal.SIG_IGN)
        # Whoever waits for the end of something must not wait for this process.
        _close_all_but(ours, terminal, copy.file)
        _carry(ours, terminal, copy)
        copy.finish()
    finally:
        os._exit(0)


def _close_all_but(*kept: int) -> None:
    for path in list(Path("/dev/fd").iterdir()):
        if int(path.name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(path.name))


def _carry(ours: int, terminal: int, copy: _Copy) -> None:
    size = _SIZE
    is_shown = True
    while True:
        # Not by reading: killed in the midst of that, it might have taken what is lost then.
        ready = _wait(ours, copy.file if copy.is_behind else None)
        copy.send()
        if ours not in ready:
            continue
        data = read(ours)
        if not data:
            return
        copy.put(data)
        # Of a program in another group than ours, nobody hears of a new size at once.
        size = _match_size(ours, terminal, size)
        # With the terminal closed, as when a connection breaks, the program goes on.
        is_shown = is_shown and show(terminal, data)


def _wait(
    readable: int | None = None,
    writable: int | None = None,
    seconds: float | None = None,
) -> list[int]:
    """Wait until one of both is, or will never be; return which."""
    poll = select.poll()
    if readable is not None:
        poll.register(readable, select.POLLIN)
    if writable is not None:
        poll.register(writable, select.POLLOUT)
    return [file for file, _ in poll.poll(None if seconds is None else seconds * 1_000)]


class _Copy:
    """What was carried, for a reader who must never be waited for."""

    def __init__(self, file: int, lost: mmap.mmap) -> None:
        self.file = file
        self._lost = lost
        self._lost_count = 0
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
        while self._size > _MOST_WAITING:
            oldest = self._waiting.popleft()
            self._size -= len(oldest)
            self._lost_count += len(oldest)
            _COUNT.pack_into(self._lost, 0, self._lost_count)

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
