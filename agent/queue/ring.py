"""A ring of rows in memory that outlives the process: a mapped file.

What a call has logged is in it when the call returns, so that not even kill -9 takes
it; the writer moves it on to the spool. What a killed process had not moved yet,
`agent.recovery` does. Layout in docs/formats/ring.md.

It lies in shared memory alone. Where a page of a mapped file cannot be had, the process
is killed with SIGBUS, so all of it is allocated before; and a page of a disk may have to
be waited for.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import struct
import time
import zlib
from collections.abc import Callable, Collection, Mapping
from mmap import mmap
from pathlib import Path

import msgspec

from seamark.queue.descriptors import Descriptor
from seamark.queue.frames import Frame
from seamark.queue.layouts import HEAD, TAIL, Layout
from seamark.queue.mounts import file_system_of
from seamark.queue.own_files import read_if_there, write_file
from seamark.queue.rows import Row, read_row

MAGIC = b"SMRING\x02\x00"
# Rows of the first kind of rings never went back to the start before they had to, which
# is no difference to those who look for a row in both places.
MAGICS = (b"SMRING\x01\x00", MAGIC)
MARKS = (64, 128)  # where the two lie; they take turns
MARK = struct.Struct("<QQQQQ")
CHECKSUM = struct.Struct("<I")
OWNER = 256  # where it says whose ring it is
LENGTH = struct.Struct("<H")
DEFINITIONS = 4_096
ROWS = DEFINITIONS + 256 * 1_024
# Behind the end there is room for the row that reaches it.
OVERHANG_BYTES = 128 * 1_024
# As much as a million points at once, twenty a call, take.
MAX_ROW_BYTES = 12 * 1_024 * 1_024
# Of which nothing is to be had from small containers. Below this it is no use.
MIN_ROW_BYTES = 2 * 1_024 * 1_024

# In the spool's folder: the boot of the machine in whose memory its ring is.
RING_FILE = "ring"
_SUFFIX = ".ring"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
SHARED_MEMORY = Path("/dev/shm")
# Of what is free no larger part is taken: data loaders die where it runs out.
_SMALLEST_PART = 16
_PAGE_BYTES = 4_096
# Where processes see other files than we do, they say when they were last used.
_NAMESPACE = Path("/proc/self/ns/mnt")
_FORGOTTEN_SECONDS = 7 * 86_400

_encode = msgspec.msgpack.Encoder().encode


# Mappings that cannot be closed without closing somebody else's file.
_left_open: list[mmap] = []

# Between two rows: the next one's number and place, and the bytes of all before it.
Position = tuple[int, int, int]
START: Position = (1, 0, 0)


class Ring:
    """The ring of the living process. Rows are written by one thread at a time.

    Whenever all rows have been read, the next one lies at the start again: as long as
    the writer keeps up, the same few pages are used, which the processor has at hand.
    """

    def __init__(
        self, path: Path, memory: mmap, descriptor: Descriptor | None = None
    ) -> None:
        """`descriptor` is the one that the mapping keeps, where that is known."""
        self.path = path
        self._memory = memory
        self._descriptor = descriptor
        self.row_bytes = row_bytes_of(len(memory))
        # Called once when half of it waits to be read, or at the next row.
        self.call_writer: Callable[[], None] = lambda: None
        self._call_at = self.row_bytes // 2
        self._has_called = False
        # Numbers and places of the next row, and the bytes before it: where to write,
        # and where to read. Each is replaced at once, whatever interrupts us.
        self._head = START
        self._read = START
        self._defined = DEFINITIONS
        self._marks = 0

    def define(self, layout: Layout) -> bool:
        """Write down what rows of a layout hold; False where there is no room left."""
        definition = Frame(layout.number, _encode(layout.paths)).to_bytes()
        size = len(definition)
        low = self._defined
        high = self._defined = low + size
        if high > ROWS:
            self._defined = low
            return False
        self._memory[low:high] = definition
        return True

    def write(
        self, layout: Layout, moment: int, step: float, values: Collection[float]
    ) -> bool:
        """Add a row, or return False where it does not fit; raise for no numbers."""
        number, place, passed = self._head
        size = layout.size
        unread = passed - self._read[2]
        if not unread:
            place = 0
        if unread > self._call_at and not self._has_called:
            self._has_called = True
            self.call_writer()
        if not layout.is_defined or unread + size > self.row_bytes:
            return False
        layout.pack_into(
            self._memory,
            ROWS + place,
            number,
            layout.number,
            moment,
            step,
            *values,
            number,
        )
        place += size
        self._head = number + 1, place if place < self.row_bytes else 0, passed + size
        return True

    def read(
        self, layouts: Mapping[int, Layout], *, most_bytes: int
    ) -> tuple[list[Row], Position]:
        """Return the oldest rows, and the position behind them."""
        rows: list[Row] = []
        number, place, passed = self._read
        most = min(self._head[2], passed + most_bytes)
        if passed < most:
            place = place_of(self._memory, number, place)
        while passed < most:
            row = read_row(self._memory, ROWS + place, layouts)
            size = HEAD.size + len(row.values) + TAIL.size
            rows.append(row)
            number, passed = number + 1, passed + size
            place = 0 if place + size >= self.row_bytes else place + size
        return rows, (number, place, passed)

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
        self._has_called = False

    def call_at_next_row(self) -> None:
        """Have the next row call, however little waits."""
        self._call_at = -1
        self._has_called = False

    def call_when_half_full(self) -> None:
        """Have rows call as usual."""
        self._call_at = self.row_bytes // 2

    def go_on_with(self, folder: Path, moves: int) -> None:
        """Belong to the spool in another folder, in which it goes on now.

        Whoever finds the folder before finds no ring for it, and delivers no row twice.
        """
        with contextlib.suppress(OSError, ValueError):
            owner, path = _owner(folder), ring_path(folder, moves)
            write_file(folder / RING_FILE, _boot_and(moves))
            self._memory[OWNER : OWNER + len(owner)] = owner
            self.path.rename(path)
            self.path = path

    @property
    def is_half_full(self) -> bool:
        """Whether the writer was called and has not released any rows since."""
        return self._has_called

    @property
    def is_empty(self) -> bool:
        return self._head[2] == self._read[2]

    def close(self) -> None:
        """Close the file, and leave it to others."""
        if not self._has_descriptor:
            _left_open.append(self._memory)
            return
        # A thread that is just writing lets go of it by itself.
        with contextlib.suppress(BufferError):
            self._memory.close()

    @property
    def _has_descriptor(self) -> bool:
        """Whether the number is not somebody else's by now, as far as that is known."""
        try:
            return self._descriptor is None or self._descriptor.stat() is not None
        except OSError:
            return False  # of memory, nothing fails

    def remove(self) -> None:
        """Close and delete the file."""
        self.close()
        with contextlib.suppress(OSError):
            self.path.unlink()


def create_ring(folder: Path) -> Ring | None:
    """Make the ring of a spool; None where there is no memory that can be relied on."""
    boot, path = boot_id(), ring_path(folder)
    if not boot or shared_memory_problem() or not _is_ours(path.parent):
        return None
    remove_orphans(path.parent)
    try:
        ring = _created(path, folder)
    except (OSError, ValueError):
        return None
    try:
        mark_ring(folder)
    except OSError:
        ring.remove()
        return None
    return ring


def mark_ring(folder: Path, moves: int = 0) -> None:
    """Say in a spool's folder of what boot its ring is, if it has one."""
    if ring_path(folder, moves).exists():
        write_file(folder / RING_FILE, _boot_and(moves))


def ring_path(folder: Path, moves: int = 0) -> Path:
    """Return where the ring of a spool is, if it has one.

    `moves` says how often the spool had gone on in another folder.
    """
    name = f"{folder.name}.{moves}" if moves else folder.name
    return SHARED_MEMORY / f"seamark-{os.geteuid()}" / f"{name}{_SUFFIX}"


def find_ring(folder: Path) -> Path | None:
    """Return where the ring of a spool is; None if there is none to be believed.

    Raises OSError where that cannot be known now.
    """
    try:
        said = read_if_there(folder / RING_FILE).decode("ascii")
        boot, _, moves = said.partition("\n")
        # Memory of before the machine was started again is gone, whatever lies there.
        if boot and boot == _read_boot_id():
            return ring_path(folder, int(moves or 0))
    except (FileNotFoundError, ValueError):
        pass
    return None


def _boot_and(moves: int) -> bytes:
    return f"{boot_id()}\n{moves}".encode() if moves else boot_id().encode("ascii")


def sealed_mark(frame: int, low: Position, high: Position) -> bytes:
    """Return what is written down of a frame that will hold the rows in between."""
    body = MARK.pack(frame, *low[:2], *high[:2])
    return body + CHECKSUM.pack(zlib.crc32(body))


def boot_id() -> str:
    """Return what is another one each time the machine starts; "" if nobody knows.

    What a mapped file holds is in order while the machine runs, and only then.
    """
    try:
        return _read_boot_id()
    except (OSError, ValueError):
        return ""


def _read_boot_id() -> str:
    return _BOOT_ID.read_text("ascii").strip()


def is_of_another(head: bytes, folder: Path) -> bool | None:
    """Whether a ring belongs to another spool, of which the one in a folder is a copy.

    Copies have the name that rings are found by. None where the folder that it was made
    for is gone or out of sight, as where it was moved.
    """
    owner = _owner_in_sight(head)
    if owner is None:
        return None
    if owner == folder.absolute():
        return False
    with contextlib.suppress(OSError):
        if find_ring(owner) == find_ring(folder):
            return not _is_same(owner / RING_FILE, folder / RING_FILE)
    return None


def lock_ring(file: int) -> bool:
    """Keep a ring from others as long as the file is open; whether it is still there.

    Raises BlockingIOError while a process has it.
    """
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return os.fstat(file).st_nlink > 0


def _owner_in_sight(head: bytes) -> Path | None:
    """Return the folder that a ring was made for, if its name means the same here."""
    with contextlib.suppress(ValueError, struct.error):
        owner, namespace = _owner_in(head)
        # What a path may hold, and no more.
        if namespace == _namespace() and "\0" not in str(owner):
            return owner
    return None


def _is_same(one: Path, other: Path) -> bool:
    """Whether two names are of one file, also where it is seen through two mounts."""
    found = [
        (status.st_ino, status.st_ctime_ns) for status in (one.stat(), other.stat())
    ]
    return found[0] == found[1]


def remove_orphans(place: Path) -> None:
    """Delete rings whose spools are gone, and those that nobody will ever look for."""
    for path in place.glob(f"*{_SUFFIX}"):
        with contextlib.suppress(OSError, ValueError, struct.error):
            _remove_orphan(path)


def _remove_orphan(path: Path) -> None:
    with path.open("rb") as file:
        # That of a living process is locked.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        head = file.read(DEFINITIONS)
        is_forgotten = time.time() - path.stat().st_mtime > _FORGOTTEN_SECONDS
        if not head.startswith(MAGICS):
            return
        folder, namespace = _owner_in(head)
        # Whoever delivers what is there has to find this, however old it is.
        if _is_folder(folder):
            return
        # Containers may share this memory, and not their folders.
        is_gone = namespace == _namespace()
        if is_gone or is_forgotten:
            path.unlink(missing_ok=True)


def _is_folder(path: Path) -> bool:
    """Whether it is there; OSError if that cannot be known now."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def shared_memory_problem() -> str:
    """Return why there is no shared memory that nobody will miss; "" if there is."""
    try:
        space = os.statvfs(SHARED_MEMORY)
    except OSError:
        return "this machine has no such shared memory"
    if file_system_of(SHARED_MEMORY) != "tmpfs":
        return "it is not in memory"
    free = space.f_bavail * space.f_frsize
    wanted = _SMALLEST_PART * ring_bytes_with(MIN_ROW_BYTES)
    if free < wanted:
        return f"{free >> 20:,} MiB are free, and {wanted >> 20:,} MiB are wanted"
    return ""


def ring_bytes_with(row_bytes: int) -> int:
    """Return how large the file is whose rows have so much room."""
    return ROWS + row_bytes + OVERHANG_BYTES


def row_bytes_of(ring_bytes: int) -> int:
    """Return how much room the rows of a file of that size have."""
    return ring_bytes - ROWS - OVERHANG_BYTES


def place_of(data: bytes | mmap, number: int, place: int) -> int:
    """Return where a row lies: at the place behind the one before, or at the start.

    What stands at the start is always a row, and no two have one number.
    """
    return 0 if HEAD.unpack_from(data, ROWS)[0] == number else place


def _room() -> int:
    """Return how large a ring may be; raise OSError if that is too little by now."""
    space = os.statvfs(SHARED_MEMORY)
    part = space.f_bavail * space.f_frsize // _SMALLEST_PART
    part -= part % _PAGE_BYTES
    if row_bytes_of(part) < MIN_ROW_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return min(part, ring_bytes_with(MAX_ROW_BYTES))


def _is_ours(place: Path) -> bool:
    """Make a folder that we alone may enter; False if somebody else was there before."""
    try:
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
        found = place.lstat()
    except OSError:
        return False
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return is_ours and not found.st_mode & 0o077


def _created(path: Path, folder: Path) -> Ring:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(path, flags, 0o600)
    try:
        # The mapping keeps a descriptor of its own, and with it the lock.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # First of all, so that it is known as one if we are killed now.
        os.pwrite(file, MAGIC, 0)
        os.pwrite(file, _owner(folder), OWNER)
        size = _room()
        os.posix_fallocate(file, 0, size)
        # Which number the mapping will keep: the lowest that is free.
        free = os.dup(file)
        os.close(free)
        memory = mmap(file, size)
        found = os.fstat(file)
        kept = Descriptor(free, found.st_dev, found.st_ino)
        # Another thread may have had it first.
        return Ring(path, memory, kept if kept.stat() is not None else None)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)


def _owner(folder: Path) -> bytes:
    texts = os.fsencode(folder.absolute()), _namespace().encode()
    owner = b"".join(LENGTH.pack(len(text)) + text for text in texts)
    if OWNER + len(owner) > DEFINITIONS:
        raise ValueError("the name of the folder is too long")
    return owner


def _owner_in(head: bytes) -> tuple[Path, str]:
    texts = []
    place = OWNER
    for _ in range(2):
        (length,) = LENGTH.unpack_from(head, place)
        place += LENGTH.size + length
        texts.append(head[place - length : place])
    return Path(os.fsdecode(texts[0])), texts[1].decode()


def _namespace() -> str:
    """Return what is the same for processes that see the same files."""
    try:
        return str(_NAMESPACE.readlink())
    except OSError:
        return ""
