"""Pseudo terminals and pipes that replace a program's output streams.

Each has two ends: the program's, and ours, from which a relay forwards the output.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios
from typing import Protocol

_OUTPUT_MODES = 1  # index in the result of tcgetattr
_SIZE = struct.pack("HHHH", 0, 0, 0, 0)


class Front(Protocol):
    # The descriptor of the original destination.
    outlet: int
    ours: int
    programs: int
    # Whether the program's writes fail once the destination has no reader.
    ends_with_reader: bool

    def match_size(self) -> bool:
        """Copy the size of the destination, if it has one; return whether it changed."""


class PseudoTerminal:
    """Replaces a terminal."""

    # If the connection breaks, the program continues and its output is still stored.
    ends_with_reader = False

    def __init__(self, terminal: int) -> None:
        """Open it; OSError if pseudo terminals are not available."""
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
        """Copy the size of the real terminal; return whether it changed."""
        known = self._size
        with contextlib.suppress(OSError):
            size = fcntl.ioctl(self.outlet, termios.TIOCGWINSZ, _SIZE)
            if size != known:
                fcntl.ioctl(self.ours, termios.TIOCSWINSZ, size)
            self._size = size
        return self._size != known


class Pipe:
    """Replaces a pipe or a socket."""

    # As without Seamark, the program ends when, for example, `head` has enough.
    ends_with_reader = True

    def __init__(self, outlet: int) -> None:
        """Open it; OSError if there are too many open files."""
        self.outlet = outlet
        self.ours, self.programs = os.pipe()
        # The same capacity as the original pipe; that of a socket is unknown.
        with contextlib.suppress(OSError, AttributeError):
            size = fcntl.fcntl(outlet, fcntl.F_GETPIPE_SZ)
            fcntl.fcntl(self.programs, fcntl.F_SETPIPE_SZ, size)

    def match_size(self) -> bool:
        return False


def front_of(outlet: int) -> Front:
    """Return a replacement of the same kind; raises OSError."""
    return PseudoTerminal(outlet) if os.isatty(outlet) else Pipe(outlet)


def _make_like(programs: int, terminal: int) -> None:
    try:
        modes = termios.tcgetattr(terminal)
        # The real terminal translates line ends, according to its own modes.
        modes[_OUTPUT_MODES] &= ~termios.OPOST
        termios.tcsetattr(programs, termios.TCSANOW, modes)
    except termios.error as error:
        raise OSError(*error.args) from error
