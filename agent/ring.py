"""A ring of rows in memory that outlives the process: a mapped file.

What a call has logged is in it when the call returns, so that not even kill -9 takes
it; the writer moves it on to the spool. Of a process that was killed, `remains` says
what it had not moved yet. Layout in docs/formats/ring.md.

A mapped file must never lack a page: where one cannot be had, the process is killed
with SIGBUS. So all of it is allocated before, on file systems that keep to that.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping
from mmap import mmap
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agent.frames import Frame
from agent.layouts import HEAD, TAIL, Layout
from agent.rows import Row, read_row

MAGIC = b"SMRING\x01\x00"
MARKS = (64, 128)  # where the two lie; they take turns
MARK = struct.Struct("<QQQQQ")
CHECKSUM = struct.Struct("<I")
FOLDER = 256  # where it says whose ring it is
LENGTH = struct.Struct("<H")
DEFINITIONS = 4_096
ROWS = DEFINITIONS + 256 * 1_024
ROW_BYTES = 4 * 1_024 * 1_024
# Behind the end there is room for the row that reaches it.
_OVERHANG_BYTES = 128 * 1_024
RING_BYTES = ROWS + ROW_BYTES + _OVERHANG_BYTES

RING_FILE = "ring.json"  # in the spool's folder; says where the ring is
SUFFIX = ".ring"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MOUNTS = Path("/proc/self/mountinfo")
_SHARED_MEMORY = Path("/dev/shm")
# Data loaders die where it runs out, so much of it is left to them.
_SPARED_BYTES = 256 * 1_024 * 1_024
# Network file systems may hang or vanish, and others allocate anew on every write.
_LASTING = {"tmpfs", "ext2", "ext3", "ext4", "xfs", "f2fs", "overlay"}

_encode = msgspec.msgpack.Encoder().encode


class Position(NamedTuple):
    """Between two rows: the next one's number and place, and the bytes before it."""

    number: int
    place: int
    passed: int = 0


START = Position(number=1, place=0)


class Ring:
    """The ring of the living process. Rows are written by one thread at a time."""

    def __init__(self, path: Path, memory: mmap) -> None:
        self.path = path
        self._memory = memory
        self._number = START.number
        self._place = ROWS
        self._written = 0
        self._read = START
        self._defined = DEFINITIONS
        self._marks = 0

    def define(self, layout: Layout) -> bool:
        """Write down what rows of a layout hold; False where there is no room left."""
        definition = Frame(layout.number, _encode(layout.paths)).to_bytes()
        low, high = self._defined, self._defined + len(definition)
        if high > ROWS:
            return False
        self._defined = high
        self._memory[low:high] = definition
        return True

    # Any: whatever can be made a float; struct knows how.
    def write(self, layout: Layout, time: int, step: float, values: Any) -> bool:
        """Add a row, or return False where it does not fit.

        Raises whatever the values raise when they are asked for their numbers.
        """
        size = layout.size
        if (
            not layout.is_defined
            or self._written - self._read.passed + size > ROW_BYTES
        ):
            return False
        number, place = self._number, self._place
        layout.pack_into(
            self._memory, place, number, layout.number, time, step, *values, number
        )
        self._number = number + 1
        place += size
        self._place = place if place < ROWS + ROW_BYTES else ROWS
        self._written += size
        return True

    def read(
        self, layouts: Mapping[int, Layout], *, most_bytes: int
    ) -> tuple[list[Row], Position]:
        """Return the oldest rows, and the position behind them."""
        rows: list[Row] = []
        number, place, passed = self._read
        most = min(self._written, passed + most_bytes)
        while passed < most:
            row = read_row(self._memory, ROWS + place, layouts)
            size = HEAD.size + len(row.values) + TAIL.size
            rows.append(row)
            number, passed = number + 1, passed + size
            place = 0 if place + size >= ROW_BYTES else place + size
        return rows, Position(number, place, passed)

    def announce(self, frame: int, high: Position) -> None:
        """Say that a frame will hold all rows up to a position, before it is written.

        Whoever finds the ring then knows by that frame where to go on.
        """
        sealed = sealed_mark(frame, self._read, high)
        place = MARKS[self._marks % len(MARKS)]
        self._marks += 1
        self._memory[place : place + len(sealed)] = sealed

    def release(self, high: Position) -> None:
        """Give the room of rows back that are in the spool."""
        self._read = high

    @property
    def is_empty(self) -> bool:
        return self._written == self._read.passed

    def close(self) -> None:
        """Close the file, and leave it to others."""
        self._memory.close()

    def remove(self) -> None:
        """Close and delete the file."""
        self.close()
        with contextlib.suppress(OSError):
            self.path.unlink()


def create_ring(folder: Path) -> Ring | None:
    """Make the ring of a spool; None where there is no memory that can be relied on."""
    boot = boot_id()
    for place in _places(folder):
        path = place / f"{folder.name}{SUFFIX}"
        try:
            ring = _created(path, folder)
        except (OSError, ValueError):
            continue
        said = {"path": str(path), "boot": boot}
        try:
            (folder / RING_FILE).write_text(json.dumps(said), "utf-8")
        except OSError:
            ring.remove()
            return None
        return ring
    return None


def sealed_mark(frame: int, low: Position, high: Position) -> bytes:
    """Return what is written down of a frame that will hold the rows in between."""
    body = MARK.pack(frame, low.number, low.place, high.number, high.place)
    return body + CHECKSUM.pack(zlib.crc32(body))


def boot_id() -> str:
    """Return what is another one each time the machine starts; "" if nobody knows.

    What a mapped file holds is in order while the machine runs, and only then.
    """
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def remove_orphans(place: Path) -> None:
    """Delete rings whose spools are gone."""
    with contextlib.suppress(OSError):
        for path in place.glob(f"*{SUFFIX}"):
            with path.open("rb") as file:
                head = file.read(DEFINITIONS)
            if head.startswith(MAGIC) and not _folder_in(head).is_dir():
                path.unlink(missing_ok=True)


def _places(folder: Path) -> Iterator[Path]:
    """Yield folders that a ring may lie in, the best first."""
    if not boot_id():
        return
    place = _own_folder()
    if place is not None:
        remove_orphans(place)
        yield place
    if _file_system_of(folder) in _LASTING:
        yield folder


def _own_folder() -> Path | None:
    """Return our folder in shared memory, where anybody may have made one before us."""
    try:
        space = os.statvfs(_SHARED_MEMORY)
        if space.f_bavail * space.f_frsize < _SPARED_BYTES:
            return None
        if _file_system_of(_SHARED_MEMORY) != "tmpfs":
            return None
        place = _SHARED_MEMORY / f"seamark-{os.geteuid()}"
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
        found = place.lstat()
    except OSError:
        return None
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return place if is_ours and not found.st_mode & 0o077 else None


def _file_system_of(folder: Path) -> str:
    """Return the kind of file system that a folder lies on, "" if nobody knows."""
    try:
        device = folder.stat().st_dev
        lines = _MOUNTS.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:
        # … major:minor root mount-point options … - kind source options
        before, _, after = line.partition(" - ")
        if before.split(" ")[2:3] == [wanted]:
            return after.split(" ")[0]
    return ""


def _created(path: Path, folder: Path) -> Ring:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(path, flags, 0o600)
    try:
        os.posix_fallocate(file, 0, RING_BYTES)
        whose = os.fsencode(folder.absolute())
        os.pwrite(file, LENGTH.pack(len(whose)) + whose, FOLDER)
        os.pwrite(file, MAGIC, 0)
        return Ring(path, mmap(file, RING_BYTES))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)


def _folder_in(head: bytes) -> Path:
    (length,) = LENGTH.unpack_from(head, FOLDER)
    low = FOLDER + LENGTH.size
    return Path(os.fsdecode(head[low : low + length]))
