"""A crash-safe ring buffer of rows: a memory-mapped file that outlives the process.

A row is in it when the logging call returns, so even kill -9 does not lose it; the
writer moves rows on to the spool. After a crash `agent.recovery` moves them. The layout
is in docs/formats/ring.md.

It is only created in shared memory, fully allocated: a page that cannot be allocated
later would kill the process with SIGBUS, and pages on disk may block.
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
# In version 1 rows did not return to the start early; readers look in both places
# anyway.
MAGICS = (b"SMRING\x01\x00", MAGIC)
MARKS = (64, 128)  # offsets of the two alternating marks
MARK = struct.Struct("<QQQQQ")
CHECKSUM = struct.Struct("<I")
OWNER = 256  # offset of the owner
LENGTH = struct.Struct("<H")
DEFINITIONS = 4_096
ROWS = DEFINITIONS + 256 * 1_024
# Room after the end for the row that crosses it.
OVERHANG_BYTES = 128 * 1_024
# Enough for a million points at once, 20 per call.
MAX_ROW_BYTES = 12 * 1_024 * 1_024
# Small containers have too little shared memory; below this a ring buffer is useless.
MIN_ROW_BYTES = 2 * 1_024 * 1_024

# File in the spool's folder with the boot id of the machine that has the ring buffer.
RING_FILE = "ring"
_SUFFIX = ".ring"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
SHARED_MEMORY = Path("/dev/shm")
# At most this share of the free space: data loaders crash when shared memory is full.
_SMALLEST_PART = 16
_PAGE_BYTES = 4_096
# The mount namespace: processes in another one see other folders, so only age decides.
_NAMESPACE = Path("/proc/self/ns/mnt")
_FORGOTTEN_SECONDS = 7 * 86_400

_encode = msgspec.msgpack.Encoder().encode


# Mappings whose descriptor now belongs to another file, so they cannot be closed.
_left_open: list[mmap] = []

# Between two rows: number and offset of the next, and the bytes of all rows before it.
Position = tuple[int, int, int]
START: Position = (1, 0, 0)


class Ring:
    """The ring buffer of a live process; one thread at a time writes rows.

    When all rows have been read, the next one goes to the start again: as long as the
    writer keeps up, the same few pages are used and stay in the CPU cache.
    """

    def __init__(
        self, path: Path, memory: mmap, descriptor: Descriptor | None = None
    ) -> None:
        """Create it; `descriptor` is the one kept by the mapping, if known."""
        self.path = path
        self._memory = memory
        self._descriptor = descriptor
        self.row_bytes = row_bytes_of(len(memory))
        # Called once when half of it is unread, or at the next row.
        self.call_writer: Callable[[], None] = lambda: None
        self._call_at = self.row_bytes // 2
        self._has_called = False
        # Positions of the next row to write and to read. Each is replaced in one
        # assignment, so that an interruption leaves no partial state.
        self._head = START
        self._read = START
        self._defined = DEFINITIONS
        self._marks = 0

    def define(self, layout: Layout) -> bool:
        """Store the paths of a layout; False if there is no room."""
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
        """Add a row; False if there is no room. Raises struct.error for non-numbers."""
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
        """Return the oldest rows, and the position after them."""
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
        """Mark that a frame will hold all rows up to a position, before it is written.

        A recovery uses the mark to find the first row that is not in the spool.
        """
        sealed = sealed_mark(frame, self._read, high)
        place = MARKS[self._marks % len(MARKS)]
        self._marks += 1
        self._memory[place : place + len(sealed)] = sealed

    def release(self, high: Position) -> None:
        """Free the room of rows that are in the spool."""
        self._read = high
        self._has_called = False

    def call_at_next_row(self) -> None:
        """Call the writer at the next row, however little is unread."""
        self._call_at = -1
        self._has_called = False

    def call_when_half_full(self) -> None:
        """Call the writer when half of the buffer is unread."""
        self._call_at = self.row_bytes // 2

    def go_on_with(self, folder: Path, moves: int) -> None:
        """Move to the spool in another folder.

        Until the last step the new folder has no ring buffer, so no row is delivered
        twice.
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
        """Close the file without deleting it."""
        if not self._has_descriptor:
            _left_open.append(self._memory)
            return
        # Fails while a thread writes; the mapping is then closed with its last
        # reference.
        with contextlib.suppress(BufferError):
            self._memory.close()

    @property
    def _has_descriptor(self) -> bool:
        """Whether the descriptor still belongs to this file, as far as known."""
        try:
            return self._descriptor is None or self._descriptor.stat() is not None
        except OSError:
            return False  # cannot happen for memory

    def remove(self) -> None:
        """Close and delete the file."""
        self.close()
        with contextlib.suppress(OSError):
            self.path.unlink()


def create_ring(folder: Path) -> Ring | None:
    """Create the ring buffer of a spool; None if shared memory is unusable."""
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
    """Store the boot id in a spool's folder, if the spool has a ring buffer."""
    if ring_path(folder, moves).exists():
        write_file(folder / RING_FILE, _boot_and(moves))


def ring_path(folder: Path, moves: int = 0) -> Path:
    """Return the path of a spool's ring buffer, which may not exist.

    `moves` is the number of times that the spool moved to another folder.
    """
    name = f"{folder.name}.{moves}" if moves else folder.name
    return SHARED_MEMORY / f"seamark-{os.geteuid()}" / f"{name}{_SUFFIX}"


def find_ring(folder: Path) -> Path | None:
    """Return the path of a spool's ring buffer; None if there is no valid one.

    Raises OSError if it cannot be determined now.
    """
    try:
        text = read_if_there(folder / RING_FILE).decode("ascii")
        boot, _, moves = text.partition("\n")
        # After a reboot the memory is lost, whatever file has that name.
        if boot and boot == _read_boot_id():
            return ring_path(folder, int(moves or 0))
    except (FileNotFoundError, ValueError):
        pass
    return None


def _boot_and(moves: int) -> bytes:
    return f"{boot_id()}\n{moves}".encode() if moves else boot_id().encode("ascii")


def sealed_mark(frame: int, low: Position, high: Position) -> bytes:
    """Return the mark of a frame that will hold the rows between two positions."""
    body = MARK.pack(frame, *low[:2], *high[:2])
    return body + CHECKSUM.pack(zlib.crc32(body))


def boot_id() -> str:
    """Return an id that changes with each boot; "" if unknown.

    The content of a mapped file is only consistent until the machine stops.
    """
    try:
        return _read_boot_id()
    except (OSError, ValueError):
        return ""


def _read_boot_id() -> str:
    return _BOOT_ID.read_text("ascii").strip()


def is_of_another(head: bytes, folder: Path) -> bool | None:
    """Return whether a ring buffer belongs to a spool of which a folder is a copy.

    Copies have the same file name. None if the original folder is gone or not visible,
    for example because it was moved.
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
    """Lock a ring buffer while the file is open; return whether it still exists.

    Raises BlockingIOError while another process holds the lock.
    """
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return os.fstat(file).st_nlink > 0


def _owner_in_sight(head: bytes) -> Path | None:
    """Return a ring buffer's original folder, if this process sees the same folders."""
    with contextlib.suppress(ValueError, struct.error):
        owner, namespace = _owner_in(head)
        # The path may contain anything.
        if namespace == _namespace() and "\0" not in str(owner):
            return owner
    return None


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two paths are one file, even through different mounts."""
    found = [
        (status.st_ino, status.st_ctime_ns) for status in (one.stat(), other.stat())
    ]
    return found[0] == found[1]


def remove_orphans(place: Path) -> None:
    """Delete ring buffers whose spools are gone, and very old ones."""
    for path in place.glob(f"*{_SUFFIX}"):
        with contextlib.suppress(OSError, ValueError, struct.error):
            _remove_orphan(path)


def _remove_orphan(path: Path) -> None:
    with path.open("rb") as file:
        # A live process holds the lock.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        head = file.read(DEFINITIONS)
        is_forgotten = time.time() - path.stat().st_mtime > _FORGOTTEN_SECONDS
        if not head.startswith(MAGICS):
            return
        folder, namespace = _owner_in(head)
        # Kept for delivery, whatever its age.
        if _is_folder(folder):
            return
        # Containers may share this memory but not their folders.
        is_gone = namespace == _namespace()
        if is_gone or is_forgotten:
            path.unlink(missing_ok=True)


def _is_folder(path: Path) -> bool:
    """Return whether a folder exists; OSError if it cannot be determined now."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def shared_memory_problem() -> str:
    """Return why shared memory is unusable; "" if it is usable."""
    try:
        space = os.statvfs(SHARED_MEMORY)
    except OSError:
        return "this machine has no shared memory"
    if file_system_of(SHARED_MEMORY) != "tmpfs":
        return "it is not a tmpfs"
    free = space.f_bavail * space.f_frsize
    needed = _SMALLEST_PART * ring_bytes_with(MIN_ROW_BYTES)
    if free < needed:
        return f"{free >> 20:,} MiB are free, but {needed >> 20:,} MiB are needed"
    return ""


def ring_bytes_with(row_bytes: int) -> int:
    """Return the file size for a number of bytes for rows."""
    return ROWS + row_bytes + OVERHANG_BYTES


def row_bytes_of(ring_bytes: int) -> int:
    """Return the bytes for rows in a file of that size."""
    return ring_bytes - ROWS - OVERHANG_BYTES


def place_of(data: bytes | mmap, number: int, place: int) -> int:
    """Return the offset of a row: after the previous one, or at the start.

    The start always holds a row, and row numbers are unique.
    """
    return 0 if HEAD.unpack_from(data, ROWS)[0] == number else place


def _room() -> int:
    """Return the size for a ring buffer; OSError if there is too little memory."""
    space = os.statvfs(SHARED_MEMORY)
    part = space.f_bavail * space.f_frsize // _SMALLEST_PART
    part -= part % _PAGE_BYTES
    if row_bytes_of(part) < MIN_ROW_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return min(part, ring_bytes_with(MAX_ROW_BYTES))


def _is_ours(place: Path) -> bool:
    """Create a private folder; False if it belongs to another user."""
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
        # The mapping keeps its own descriptor, and with it the lock.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Written first, so that the file is recognizable if the process is killed now.
        os.pwrite(file, MAGIC, 0)
        os.pwrite(file, _owner(folder), OWNER)
        size = _room()
        os.posix_fallocate(file, 0, size)
        # Predicts the mapping's descriptor: the lowest free number.
        free = os.dup(file)
        os.close(free)
        memory = mmap(file, size)
        found = os.fstat(file)
        kept = Descriptor(free, found.st_dev, found.st_ino)
        # Another thread may have taken that number.
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
        raise ValueError("the folder's path is too long")
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
    """Return the mount namespace: processes with the same one see the same folders."""
    try:
        return str(_NAMESPACE.readlink())
    except OSError:
        return ""
