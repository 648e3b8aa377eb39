"""Moves the rows of a killed process from its ring buffer to its spool.

The recovery may be killed too, and another process repeats it: rows are in the spool
once the last of their frames is, and the ring buffer names that frame.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from seamark.queue import locks
from seamark.queue.frames import Frame, read_frames
from seamark.queue.grouping import encoded, payloads
from seamark.queue.layouts import HEAD, TAIL, Layout
from seamark.queue.own_files import NO_FILE, read_all, write_file
from seamark.queue.ring import (
    CHECKSUM,
    DEFINITIONS,
    MAGICS,
    MARK,
    MARKS,
    MAX_ROW_BYTES,
    MIN_ROW_BYTES,
    RING_FILE,
    ROWS,
    START,
    Position,
    find_ring,
    is_of_another,
    lock_ring,
    place_of,
    row_bytes_of,
    sealed_mark,
)
from seamark.queue.rows import Row, intact_rows
from seamark.queue.spool import SEGMENT_SUFFIX
from seamark.queue.spool_reader import SpoolReader
from seamark.queue.writer import RING_BYTES_AT_ONCE
from seamark.user_warnings import Notices

_decode_paths = msgspec.msgpack.Decoder(tuple[str, ...]).decode


class Mark(NamedTuple):
    """The number of the frame that will hold the rows between two positions."""

    frame: int
    low: Position
    high: Position


class Left:
    """Iterates over the rows that are in no frame up to the last frame of the spool.

    If a written frame cannot be found any more, some of its rows may be overwritten.
    Later rows are still there, at the position of a mark by the process or by a
    recovery that was killed.
    """

    def __init__(self, data: bytes, last: int) -> None:
        self._data = data
        mark = last_mark(data)
        self.low = START
        if mark is not None:
            self.low = mark.high if mark.frame <= last else mark.low
        self.end = self.low  # the position after the last row so far

    def __iter__(self) -> Iterator[Row]:
        yield from self._rows_from(self.low)
        for high in sorted(mark.high for mark in marks_in(self._data)):
            if self.end[0] < high[0]:
                yield from self._rows_from(high)

    def _rows_from(self, start: Position) -> Iterator[Row]:
        self.end = start
        for row, behind in rows_from(self._data, start):
            self.end = behind
            yield row


def recover(folder: Path, notices: Notices) -> None:
    """Write the rows of an orphaned spool's ring buffer to the spool, and delete it.

    The caller holds the spool's lock. Raises OSError if reading or writing fails.
    """
    with _opened(folder, os.O_RDWR) as file:
        data = None if file is None else _read(file, folder)
        if file is None or data is None:
            return
        may_go = _move(data, file, folder, notices)
    if may_go:
        # If it stays, the next recovery finds it empty.
        with contextlib.suppress(OSError):
            ring = find_ring(folder)
            if ring is not None:
                ring.unlink()


def remove_ring(folder: Path) -> None:
    """Delete the ring buffer of a discarded spool, if it belongs to that spool."""
    with _opened(folder, os.O_RDONLY) as file:
        is_own = file is not None and _read(file, folder) is not None
    ring = find_ring(folder)
    if is_own and ring is not None:
        ring.unlink(missing_ok=True)


def recover_all(root: Path, notices: Notices) -> None:
    """Recover all orphaned spools in a folder, whether or not they are delivered.

    Memory is scarcer than disk, and is lost at a reboot.
    """
    for path in root.glob(f"*/{RING_FILE}"):
        lock = locks.acquire(path.parent)
        if lock is None:
            continue
        try:
            # Failed writes are retried by the next recovery.
            with contextlib.suppress(OSError):
                recover(path.parent, notices)
        finally:
            locks.release(lock)


def points_left(folder: Path) -> int:
    """Return the number of points of a killed process that are only in its ring buffer.

    Raises OSError if it cannot be read now.
    """
    with _opened(folder, os.O_RDONLY) as file:
        data = None if file is None else _read(file, folder)
    if data is None:
        return 0
    return sum(len(row.paths) for row in Left(data, SpoolReader(folder).last_number()))


def last_mark(data: bytes) -> Mark | None:
    """Return the latest mark; None if there is none."""
    return max(marks_in(data), default=None)


def marks_in(data: bytes) -> list[Mark]:
    return [mark for place in MARKS if (mark := _mark_at(data, place))]


def rows_from(data: bytes, low: Position) -> Iterator[tuple[Row, Position]]:
    """Yield the rows from a position on, each with the position after it."""
    number, place, _ = low
    end, layouts = row_bytes_of(len(data)), layouts_in(data)
    rows = memoryview(data)[ROWS:]
    # A process killed while writing at the start may have left part of a number there.
    for start in dict.fromkeys((place_of(data, number, place), place)):
        is_there = False
        for row, behind in intact_rows(rows, number, start, end, layouts):
            is_there = True
            number += 1
            yield row, (number, behind, 0)
        if is_there:
            return


def layouts_in(data: bytes) -> dict[int, Layout]:
    """Return the intact layouts defined in a ring buffer, by number."""
    found: dict[int, Layout] = {}
    for frame in read_frames(data[DEFINITIONS:ROWS].rstrip(b"\0")):
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            found[frame.number] = Layout(frame.number, _decode_paths(frame.payload))
    return found


def _mark_at(data: bytes, place: int) -> Mark | None:
    body = data[place : place + MARK.size]
    (checksum,) = CHECKSUM.unpack_from(data, place + MARK.size)
    frame, *numbers = MARK.unpack(body)
    # An unwritten mark is all zeros, whose checksum would be valid.
    if not frame or checksum != zlib.crc32(body):
        return None
    return Mark(frame, (*numbers[:2], 0), (*numbers[2:], 0))


@contextlib.contextmanager
def _opened(folder: Path, mode: int) -> Iterator[int | None]:
    """Open the ring buffer of a spool; None if there is no valid one."""
    ring = find_ring(folder)
    file = None if ring is None else _open(ring, mode)
    try:
        yield file
    finally:
        if file is not None:
            os.close(file)


def _open(ring: Path, mode: int) -> int | None:
    try:
        return os.open(ring, mode | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        # Otherwise its rows would be treated as delivered.
        if error.errno not in NO_FILE:
            raise
        return None


def _read(file: int, folder: Path) -> bytes | None:
    """Return a ring buffer's content; None if it is invalid or another folder's."""
    found = os.fstat(file)
    is_ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
    is_whole = MIN_ROW_BYTES <= row_bytes_of(found.st_size) <= MAX_ROW_BYTES
    if not is_ours or not is_whole:
        return None
    head = read_all(file, DEFINITIONS, 0)
    if not head.startswith(MAGICS):
        return None
    is_anothers = is_of_another(head, folder)
    # Read only under the lock, so that no other process moves its rows.
    if is_anothers or not lock_ring(file):
        return None
    data = read_all(file, found.st_size, 0)
    if len(data) != found.st_size or (
        is_anothers is None and _lacks_frames(data, folder)
    ):
        return None
    return data


def _lacks_frames(data: bytes, folder: Path) -> bool:
    """Return whether a spool lacks frames that its process wrote, like an older copy."""
    mark = last_mark(data)
    return mark is not None and mark.frame > SpoolReader(folder).last_number() + 1


def _move(data: bytes, file: int, folder: Path, notices: Notices) -> bool:
    """Move the remaining rows to the spool; return whether to delete the ring buffer."""
    last = SpoolReader(folder).last_number()
    left = Left(data, last)
    frames, latest = _framed(left, last + 1, notices)
    if not frames:
        return True
    if not last:
        # Without its first frame the spool's run is unknown, or its files are not
        # visible.
        return False
    aside = folder / f".{last + 1:020}.recovered"
    write_file(aside, b"".join(frames))
    _date(aside, folder, latest)
    # Overwrite the older mark, so that the current one stays valid until then.
    mark = last_mark(data)
    place = next((p for p in MARKS if _mark_at(data, p) != mark), MARKS[0])
    os.pwrite(file, sealed_mark(last + 1, left.low, left.end), place)
    aside.rename(folder / f"{last + 1:020}{SEGMENT_SUFFIX}")
    return True


def _framed(left: Left, first: int, notices: Notices) -> tuple[list[bytes], int]:
    """Return frames that hold all rows, and the latest time of a row.

    Works in pieces, because a row takes many times its size outside the ring buffer.
    """
    frames: list[bytes] = []
    latest = 0
    rows = iter(left)
    while piece := _piece(rows):
        latest = max(latest, *(row.time for row in piece))
        for payload in payloads(encoded(piece, notices=notices)):
            frames.append(Frame(first + len(frames), payload).to_bytes())
    return frames, latest


def _piece(rows: Iterator[Row]) -> list[Row]:
    """Take as many rows as fit into one payload."""
    piece, size = [], 0
    for row in rows:
        piece.append(row)
        size += HEAD.size + len(row.values) + TAIL.size
        if size >= RING_BYTES_AT_ONCE:
            break
    return piece


def _date(aside: Path, folder: Path, latest: int) -> None:
    """Set a file's modification time to the estimated last activity of the process.

    Bounded by the spool's files and the clock, because logged times may be arbitrary.
    """
    earliest = max(
        (segment.stat().st_mtime_ns for segment in folder.glob(f"*{SEGMENT_SUFFIX}")),
        default=0,
    )
    moment = max(earliest, min(latest * 1_000, time.time_ns()))
    os.utime(aside, ns=(moment, moment))
