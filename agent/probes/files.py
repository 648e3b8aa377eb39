"""Reads small kernel files repeatedly, keeping them open."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from seamark.probes.process.gil_reads import (
    Quickness,
    closed,
    is_kernels_own,
    is_proc_kernels_own,
    opened,
    read_at,
)

_MAX_BYTES = 1 << 16
# The kernel fills a page with lines, none of which is as long as half of it, in most
# files: a shorter piece is the last. Each avoided read interrupts the training once
# less.
_LAST_BYTES = 2_048
# By the last component of process file paths.
_quickness: defaultdict[str, Quickness] = defaultdict(Quickness)


class KernelFile:
    """A file in /proc or /sys; `read` returns None if it is unreadable.

    `has_long_records` means that pieces end early because a record may be long;
    `never_blocks` means that the kernel needs no contended lock to answer.
    """

    def __init__(
        self,
        path: Path,
        *,
        has_long_records: bool = False,
        never_blocks: bool = False,
    ) -> None:
        self._path = path
        self._last_bytes = 1 if has_long_records else _LAST_BYTES
        self._never_blocks = never_blocks
        self._file: int | None = None
        self._may_hold_gil = False
        self._quickness = Quickness()

    def read(self) -> str | None:
        try:
            return self._read()
        except OSError:
            self.close()
            return None

    def close(self) -> None:
        file, self._file = self._file, None
        # A forked child closes its own copy too.
        if file is not None:
            os.close(file)

    def _read(self) -> str:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            self._may_hold_gil = self._never_blocks and is_kernels_own(self._file)
        file = self._file
        if self._may_hold_gil and self._quickness.is_trusted():
            read = partial(_all_pieces, partial(read_at, file), self._last_bytes)
            text = self._quickness.timed(read)
        else:
            text = _all_pieces(
                lambda place: os.pread(file, _MAX_BYTES, place), self._last_bytes
            )
        return text.decode("ascii", "replace")

    def __del__(self) -> None:
        try:
            self.close()
        except (OSError, AttributeError, TypeError):
            # At interpreter shutdown `os` may already be gone.
            return


def read_briefly(path: str) -> bytes:
    """Return the content of a kernel file that is not kept open.

    A Python file object stats the file twice and reads until an empty result; each call
    releases the GIL and waits for it again.

    Raises:
        OSError: It cannot be read.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return _all_pieces(lambda _: os.read(file, _MAX_BYTES), _LAST_BYTES)
    finally:
        os.close(file)


def read_at_once(path: str) -> bytes:
    """Read a process's kernel file while holding the GIL, if that is fast.

    Raises:
        OSError: It cannot be read.
    """
    quickness = _quickness[path.rpartition("/")[2]]
    if not (is_proc_kernels_own() and quickness.is_trusted()):
        return read_briefly(path)
    return quickness.timed(partial(_read_with_gil, path))


def _read_with_gil(path: str) -> bytes:
    file = opened(path)
    try:
        return _all_pieces(partial(read_at, file), _LAST_BYTES)
    finally:
        closed(file)


def _all_pieces(read: Callable[[int], bytes], last_bytes: int) -> bytes:
    """Read pieces until one is shorter than `last_bytes`.

    The kernel chooses the size of the pieces.
    """
    text = piece = read(0)
    while len(piece) >= last_bytes:
        piece = read(len(text))
        text += piece
    return text


def read_text(path: Path) -> str:
    """Return a file's stripped text; "" if it cannot be read."""
    try:
        return path.read_text("ascii", "replace").strip()
    except OSError:
        return ""


def read_number(path: Path) -> int | None:
    text = read_text(path)
    return int(text) if text.isdigit() else None


def table(text: str) -> dict[str, int]:
    """Parse lines of a name and a number, as in `memory.stat`."""
    rows = (line.split() for line in text.splitlines())
    return {
        row[0].rstrip(":"): int(row[1])
        for row in rows
        if len(row) > 1 and row[1].isdigit()
    }


def picked(text: str, names: Iterable[str], separator: str) -> dict[str, int]:
    """Parse only the lines with these names; faster than `table` for few names."""
    lines = f"\n{text}\n"
    found = {}
    for name in names:
        _, is_there, rest = lines.partition(f"\n{name}{separator}")
        numbers = rest[:40].split(None, 1)
        if is_there and numbers and numbers[0].isdigit():
            found[name] = int(numbers[0])
    return found
