"""Moves what a killed process left in its ring to its spool, as its writer would have.

It may be killed itself, and then somebody else begins anew: rows are in the spool as
soon as the last of their frames is, and the ring says which one that is.
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
    """Which frame holds the rows between two positions, once there is such a frame."""

    frame: int
    low: Position
    high: Position


class Left:
    """The rows that are in no frame up to the last one that can be found, one by one.

    Of a frame that was written and cannot be found any more, rows may be overwritten
    already. Those behind it are there, and a mark says where: its own, or that of a
    recovery which was killed.
    """

    def __init__(self, data: bytes, last: int) -> None:
        self._data = data
        mark = last_mark(data)
        self.low = START
        if mark is not None:
            self.low = mark.high if mark.frame <= last else mark.low
        self.end = self.low  # the position behind the last row so far

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
    """Write the rows of an abandoned spool's ring to the spool, and delete the ring.

    The spool's lock is held by the caller. Raises OSError where it cannot be read, or
    nothing be written.
    """
    with _opened(folder, os.O_RDWR) as file:
        data = None if file is None else _read(file, folder)
        if file is None or data is None:
            return
        may_go = _move(data, file, folder, notices)
    if may_go:
        # Another time, it will be seen that nothing is left in it.
        with contextlib.suppress(OSError):
            ring = find_ring(folder)
            if ring is not None:
                ring.unlink()


def remove_ring(folder: Path) -> None:
    """Delete the ring of a spool that is not wanted any more, if it is its own."""
    with _opened(folder, os.O_RDONLY) as file:
        is_own = file is not None and _read(file, folder) is not None
    ring = find_ring(folder)
    if is_own and ring is not None:
        ring.unlink(missing_ok=True)


def recover_all(root: Path, notices: Notices) -> None:
    """Do so for every abandoned spool below a folder, whether or not it is delivered.

    Memory is scarcer than disk, and gone when the machine is started again.
    """
    for path in root.glob(f"*/{RING_FILE}"):
        lock = locks.acquire(path.parent)
        if lock is None:
            continue
        try:
            # What cannot be written now will be tried again.
            with contextlib.suppress(OSError):
                recover(path.parent, notices)
        finally:
            locks.release(lock)


def points_left(folder: Path) -> int:
    """Return how many points of a killed process are in its ring alone.

    Raises OSError where that cannot be known now.
    """
    with _opened(folder, os.O_RDONLY) as file:
        data = None if file is None else _read(file, folder)
    if data is None:
        return 0
    return sum(len(row.paths) for row in Left(data, SpoolReader(folder).last_number()))


def last_mark(data: bytes) -> Mark | None:
    """Return the mark that was made last, None before the first."""
    return max(marks_in(data), default=None)


def marks_in(data: bytes) -> list[Mark]:
    return [mark for place in MARKS if (mark := _mark_at(data, place))]


def rows_from(data: bytes, low: Position) -> Iterator[tuple[Row, Position]]:
    """Yield the rows from a position on, each with the position behind it."""
    number, place, _ = low
    end, layouts = row_bytes_of(len(data)), layouts_in(data)
    rows = memoryview(data)[ROWS:]
    # What was killed while it wrote at the start may have left a part of a number there.
    for start in dict.fromkeys((place_of(data, number, place), place)):
        is_there = False
        for row, behind in intact_rows(rows, number, start, end, layouts):
            is_there = True
            number += 1
            yield row, (number, behind, 0)
        if is_there:
            return


def layouts_in(data: bytes) -> dict[int, Layout]:
    """Return the layouts that are defined in a ring, as far as they are intact."""
    found: dict[int, Layout] = {}
    for frame in read_frames(data[DEFINITIONS:ROWS].rstrip(b"\0")):
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            found[frame.number] = Layout(frame.number, _decode_paths(frame.payload))
    return found


def _mark_at(data: bytes, place: int) -> Mark | None:
    body = data[place : place + MARK.size]
    (checksum,) = CHECKSUM.unpack_from(data, place + MARK.size)
    frame, *numbers = MARK.unpack(body)
    # Before it was written there are zeros, whose checksum would be right.
    if not frame or checksum != zlib.crc32(body):
        return None
    return Mark(frame, (*numbers[:2], 0), (*numbers[2:], 0))


@contextlib.contextmanager
def _opened(folder: Path, mode: int) -> Iterator[int | None]:
    """Open the ring of a spool; None where there is none that can be believed."""
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
        # Or what is in it would be thought delivered with the rest.
        if error.errno not in NO_FILE:
            raise
        return None


def _read(file: int, folder: Path) -> bytes | None:
    """Return what is in a ring; None for what is none, or another folder's."""
    found = os.fstat(file)
    is_ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
    is_whole = MIN_ROW_BYTES <= row_bytes_of(found.st_size) <= MAX_ROW_BYTES
    if not is_ours or not is_whole:
        return None
    head = read_all(file, DEFINITIONS, 0)
    if not head.startswith(MAGICS):
        return None
    is_anothers = is_of_another(head, folder)
    # Not read before nobody else moves what is in it.
    if is_anothers or not lock_ring(file):
        return None
    data = read_all(file, found.st_size, 0)
    if len(data) != found.st_size or (is_anothers is None and _lacks(data, folder)):
        return None
    return data


def _lacks(data: bytes, folder: Path) -> bool:
    """Whether a spool lacks frames that its process wrote, as an older copy does."""
    mark = last_mark(data)
    return mark is not None and mark.frame > SpoolReader(folder).last_number() + 1


def _move(data: bytes, file: int, folder: Path, notices: Notices) -> bool:
    """Move what is left to the spool; return whether the ring may go."""
    last = SpoolReader(folder).last_number()
    left = Left(data, last)
    frames, latest = _framed(left, last + 1, notices)
    if not frames:
        return True
    if not last:
        # Without its first frame it is not even known which run it belongs to. Or its
        # files are out of sight.
        return False
    aside = folder / f".{last + 1:020}.recovered"
    write_file(aside, b"".join(frames))
    _date(aside, folder, latest)
    # The mark that counts stays as it is until this one is written.
    mark = last_mark(data)
    place = next((p for p in MARKS if _mark_at(data, p) != mark), MARKS[0])
    os.pwrite(file, sealed_mark(last + 1, left.low, left.end), place)
    aside.rename(folder / f"{last + 1:020}{SEGMENT_SUFFIX}")
    return True


def _framed(left: Left, first: int, notices: Notices) -> tuple[list[bytes], int]:
    """Return frames that hold all rows, and the latest time of a row.

    Piece by piece: a row takes many times its bytes while it is out of the ring.
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
    """Take as many rows as fit into one payload, whatever they are."""
    piece, size = [], 0
    for row in rows:
        piece.append(row)
        size += HEAD.size + len(row.values) + TAIL.size
        if size >= RING_BYTES_AT_ONCE:
            break
    return piece


def _date(aside: Path, folder: Path, latest: int) -> None:
    """Give a file the time when the process was last heard of, as far as that is known.

    Whoever logs may give times of their own, in the past or in the future.
    """
    earliest = max(
        (segment.stat().st_mtime_ns for segment in folder.glob(f"*{SEGMENT_SUFFIX}")),
        default=0,
    )
    moment = max(earliest, min(latest * 1_000, time.time_ns()))
    os.utime(aside, ns=(moment, moment))
