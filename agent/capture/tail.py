"""What others write to a file, read from behind them.

Where a program's output goes to a file, as in batch jobs, everything in it can be seen
without standing between the program and the file: also what C code, child processes
and other languages write.
"""

from __future__ import annotations

import codecs
import contextlib
import os
from pathlib import Path

from seamark.capture.outlets import DESCRIPTORS
from seamark.capture.tee import CAPACITY, Pending


class Tail:
    """Reads one file from its present end on."""

    def __init__(self, file: int, position: int, pending: Pending) -> None:
        self._file = file
        self._position = position
        self._pending = pending
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def read(self) -> None:
        """Take what is new; of a flood the beginning and the end."""
        with contextlib.suppress(OSError):
            size = os.fstat(self._file).st_size
            # Emptied from outside, as those do who rotate logs.
            self._position = min(self._position, size)
            self._take(min(size - self._position, CAPACITY))
            missing = size - self._position - CAPACITY
            if missing > 0:
                self._pending.skip(missing)
                self._position += missing
            self._take(size - self._position)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._file)

    def _take(self, most: int) -> None:
        data = os.pread(self._file, most, self._position) if most > 0 else b""
        self._position += len(data)
        if data:
            self._pending.put(self._decode(data))


def tail_of(stream: str, position: int, pending: Pending) -> Tail | None:
    """Return what follows a stream of this process from there on."""
    path = Path(f"/proc/self/fd/{DESCRIPTORS[stream]}")
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        # Not Linux, or a file that may be written and not read.
        return None
    return Tail(file, position, pending)
