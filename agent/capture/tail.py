"""Follows the output file of a program.

If a program's output goes to a file, as in batch jobs, all of it can be read without a
relay, including the output of C code, child processes and other languages.
"""

from __future__ import annotations

import codecs
import contextlib
import os
from pathlib import Path

from seamark.capture.output_streams import DESCRIPTORS
from seamark.capture.tee import CAPACITY, Pending


class Tail:
    """Reads one file from a position on."""

    def __init__(self, file: int, position: int, pending: Pending) -> None:
        self._file = file
        self._position = position
        self._pending = pending
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def read(self) -> None:
        """Read new output; of a flood, the beginning and the end."""
        with contextlib.suppress(OSError):
            size = os.fstat(self._file).st_size
            # The file was truncated, for example by log rotation.
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
    """Return a Tail for a stream of this process from a position on; None on failure."""
    path = Path(f"/proc/self/fd/{DESCRIPTORS[stream]}")
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        # Not Linux, or a file that is write-only.
        return None
    return Tail(file, position, pending)
