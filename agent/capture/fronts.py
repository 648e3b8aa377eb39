"""What a program writes to, in front of where its stream leads, and like it.

Each has two ends: the program's, and ours, which a relay carries on from.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios
from typing import Protocol

_OUTPUT_MODES = 1  # where tcgetattr has them
_SIZE = struct.pack("HHHH", 0, 0, 0, 0)


class Front(Protocol):
    # Where the stream leads.
    outlet: int
    ours: int
    programs: int
    # Whether the program can write no more where nobody reads what it wrote.
    ends_with_reader: bool

    def match_size(self) -> bool:
        """Take the size of what is shown on, if it has one; say if that is news."""


class PseudoTerminal:
    """In front of a terminal."""

    # When a connection breaks, the program goes on and is stored.
    ends_with_reader = False

    def __init__(self, terminal: int) -> None:
        """Raise OSError where there are no pseudo terminals."""
        self.outlet = terminal
        self.ours, self.programs = os.openpty()
        self._size = _SIZE
        try:
            _make_like(self.programs, terminal)
        except OSError:
            os.close(self.ours)
            os.close(self.programs)
            raise
        self.match_size()

    def match_size(self) -> bool:
        """Give the program's terminal the size of the true one; say if that is news."""
        known = self._size
        with contextlib.suppress(OSError):
            size = fcntl.ioctl(self.outlet, termios.TIOCGWINSZ, _SIZE)
            if size != known:
                fcntl.ioctl(self.ours, termios.TIOCSWINSZ, size)
            self._size = size
        return self._size != known


class Pipe:
    """In front of a pipe or a socket."""

    # Whoever reads only the first lines is not written for in vain.
    ends_with_reader = True

    def __init__(self, outlet: int) -> None:
        """Raise OSError where there are too many open files."""
        self.outlet = outlet
        self.ours, self.programs = os.pipe()
        # It holds as much before the program waits; what a socket holds is unknown.
        with contextlib.suppress(OSError, AttributeError):
            size = fcntl.fcntl(outlet, fcntl.F_GETPIPE_SZ)
            fcntl.fcntl(self.programs, fcntl.F_SETPIPE_SZ, size)

    def match_size(self) -> bool:
        return False


def front_of(outlet: int) -> Front:
    """Return what is like it; raise OSError where there is no such thing."""
    return PseudoTerminal(outlet) if os.isatty(outlet) else Pipe(outlet)


def _make_like(programs: int, terminal: int) -> None:
    try:
        modes = termios.tcgetattr(terminal)
        # Ends of lines and the like are left to the true one, whatever its modes are.
        modes[_OUTPUT_MODES] &= ~termios.OPOST
        termios.tcsetattr(programs, termios.TCSANOW, modes)
    except termios.error as error:
        raise OSError(*error.args) from error
