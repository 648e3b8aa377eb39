"""Small files of the kernel, opened once and read again and again."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from seamark.probes.held_reads import (
    Quickness,
    closed,
    is_kernels_own,
    is_proc_kernels_own,
    opened,
    read_at,
)

_MAX_BYTES = 1 << 16
# Of most files the kernel fills a page with lines, of which none is as long as half of it:
# a piece that leaves as much room is the last. Each read that is spared interrupts the
# training once less.
_LAST_BYTES = 2_048
# Of files of processes, by the last part of their paths.
_quickness: defaultdict[str, Quickness] = defaultdict(Quickness)


class KernelFile:
    """A file below /proc or /sys; what cannot be read is None.

    `has_long_records` says that its pieces end where what does not fit may be long,
    `waits_for_nobody` that the kernel answers without a lock that others hold for long.
    """

    def __init__(
        self,
        path: Path,
        *,
        has_long_records: bool = False,
        waits_for_nobody: bool = False,
    ) -> None:
        self._path = path
        self._last_bytes = 1 if has_long_records else _LAST_BYTES
        self._waits_for_nobody = waits_for_nobody
        self._file: int | None = None
        self._may_be_held = False
        self._quickness = Quickness()

    def read(self) -> str | None:
        try:
            return self._read()
        except OSError:
            self.close()
            return None

    def close(self) -> None:
        file, self._file = self._file, None
        # A forked child's copy is its own to close, too.
        if file is not None:
            os.close(file)

    def _read(self) -> str:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            self._may_be_held = self._waits_for_nobody and is_kernels_own(self._file)
        file = self._file
        if self._may_be_held and self._quickness.is_trusted():
            held = partial(_all_pieces, partial(read_at, file), self._last_bytes)
            text = self._quickness.timed(held)
        else:
            text = _all_pieces(
                lambda place: os.pread(file, _MAX_BYTES, place), self._last_bytes
            )
        return text.decode("ascii", "replace")

    def __del__(self) -> None:
        try:
            self.close()
        except (OSError, AttributeError, TypeError):
            # At the end of the interpreter there may be no `os` any more.
            return


def read_briefly(path: str) -> bytes:
    """Return what a file of the kernel says that is not kept open.

    A file object asks how long the file is, twice, and reads until nothing comes; each
    time the interpreter is free for the training, and waited for again.

    Raises:
        OSError: It cannot be read.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return _all_pieces(lambda _: os.read(file, _MAX_BYTES), _LAST_BYTES)
    finally:
        os.close(file)


def read_at_once(path: str) -> bytes:
    """Do the same of what the kernel says of a process, without waiting for anybody.

    Raises:
        OSError: It cannot be read.
    """
    quickness = _quickness[path.rpartition("/")[2]]
    if not (is_proc_kernels_own() and quickness.is_trusted()):
        return read_briefly(path)
    return quickness.timed(partial(_read_held, path))


def _read_held(path: str) -> bytes:
    file = opened(path)
    try:
        return _all_pieces(partial(read_at, file), _LAST_BYTES)
    finally:
        closed(file)


def _all_pieces(read: Callable[[int], bytes], last_bytes: int) -> bytes:
    """Read, at one place after the other, up to a piece that is shorter than this.

    Files of the kernel come in pieces of its choosing.
    """
    text = piece = read(0)
    while len(piece) >= last_bytes:
        piece = read(len(text))
        text += piece
    return text


def read_text(path: Path) -> str:
    """Return what a file says, without the white space around; "" if it cannot be read."""
    try:
        return path.read_text("ascii", "replace").strip()
    except OSError:
        return ""


def read_number(path: Path) -> int | None:
    text = read_text(path)
    return int(text) if text.isdigit() else None


def table(text: str) -> dict[str, int]:
    """Read lines of a name and a number, as `memory.stat` has them."""
    rows = (line.split() for line in text.splitlines())
    return {
        row[0].rstrip(":"): int(row[1])
        for row in rows
        if len(row) > 1 and row[1].isdigit()
    }


def picked(text: str, names: Iterable[str], separator: str) -> dict[str, int]:
    """Read only the lines with these names; quicker than `table` where few are wanted."""
    lines = f"\n{text}\n"
    found = {}
    for name in names:
        _, is_there, rest = lines.partition(f"\n{name}{separator}")
        numbers = rest[:40].split(None, 1)
        if is_there and numbers and numbers[0].isdigit():
            found[name] = int(numbers[0])
    return found
