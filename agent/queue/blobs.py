"""Contents of files in a spool's folder, each under its digest until it is delivered.

Nothing is in the folder under a digest but what was copied to its end.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from seamark.queue.own_files import sync, sync_open

FOLDER = "blobs"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_READ_BYTES = 1024 * 1024
# Of a large file no more than this waits for the disk at once: whoever waits for the copy
# sees that it moves.
_SYNC_BYTES = 64 * 1024 * 1024
# Of what says that it is empty, and may not be, as files of the kernel.
_UNSAID_BYTES = 64 * 1024 * 1024
_ATTEMPTS = 3
# What is left to everybody else on the disk.
_MIN_FREE_BYTES = 1024 * 1024 * 1024
# What waits is not counted again before so many times as long as that took.
_RESTS = 10
# Linux: share the blocks of another file, on file systems that can.
_FICLONE = 0x40049409


class Blob(NamedTuple):
    """A content that waits for delivery."""

    digest: str
    size: int


@dataclass
class _Count:
    """How much waits in a folder at most: what was delivered since is in it, too."""

    folder: Path
    size: int
    again_at: float  # by the clock of time.monotonic


class Changed(Exception):
    """A file was written to for as long as anybody tried to copy it."""


class Shortened(Exception):
    """A content is shorter than it was when it was listed."""


class Blobs:
    """The contents in one spool's folder."""

    def __init__(
        self,
        spool: Path,
        *,
        most_bytes: int = 2**63,
        progress: Callable[[], None] = lambda: None,
        is_hurried: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_hurried` says when to leave it to the system when contents are on the disk."""
        self.folder = spool / FOLDER
        self._most_bytes = most_bytes
        self._progress = progress
        self._count: _Count | None = None
        self._is_hurried = is_hurried
        # Folders in which names are that the disk has perhaps not yet, and those whose own
        # name it has.
        self._unsynced: set[Path] = set()
        self._synced: set[Path] = set()

    def keep(self, data: bytes) -> Blob:
        """Store bytes; OSError if there is no room."""
        self._check_room(len(data))
        with self._made() as (place, file):
            for start in range(0, len(data), _READ_BYTES):
                _write_all(file, data[start : start + _READ_BYTES])
                self._note_written(file, start, start + _READ_BYTES)
            digest = hashlib.sha256(data).hexdigest()
            return self._named(place, file, digest, len(data))

    def keep_file(self, descriptor: int) -> Blob:
        """Store a copy of an open file, as it is at one moment; OSError, or Changed."""
        for _ in range(_ATTEMPTS):
            before = os.fstat(descriptor)
            self._check_room(before.st_size)
            with self._made() as (place, file):
                if _clone(descriptor, file.fileno()):
                    return self._named(place, file, *self._copy(file.fileno(), None))
                # One that grows as fast as it is copied would have no end.
                most = before.st_size or _UNSAID_BYTES
                digest, size = self._copy(descriptor, file, most_bytes=most)
                after = os.fstat(descriptor)
                # In place; one that was put in its place is another file.
                is_same = (before.st_size, before.st_mtime_ns) == (
                    after.st_size,
                    after.st_mtime_ns,
                )
                if is_same and size <= most:
                    return self._named(place, file, digest, size)
        raise Changed

    def sync(self) -> None:
        """Wait until the names of all that was stored survive the machine; OSError if not.

        Its contents do already. Whoever stores many files asks once, as each time the disk
        writes down the folder.
        """
        if self._is_hurried():
            return
        for folder in [*self._unsynced]:
            self._unsynced.discard(folder)
            sync(folder)
            if folder not in self._synced:
                sync(folder.parent)
                self._synced.add(folder)

    def pending(self) -> list[Blob]:
        """Return what waits for delivery, the oldest first; costs as much as there is.

        OSError where that cannot be known now.
        """
        found = []
        for entry in self._entries():
            # It may be delivered meanwhile.
            with contextlib.suppress(FileNotFoundError):
                known = entry.stat(follow_symlinks=False)
                found.append((known.st_mtime_ns, Blob(entry.name, known.st_size)))
        return [blob for _, blob in sorted(found)]

    def digests(self) -> Iterator[str]:
        """Yield what waits for delivery, in no order, no further than it is asked for.

        OSError as above.
        """
        for entry in self._entries():
            yield entry.name

    def read(self, blob: Blob, offset: int, most_bytes: int) -> bytes:
        """Return a part of a content; OSError if that is not possible now, Shortened if
        it never will be.
        """
        with self._opened(blob) as file:
            part = os.pread(file, min(most_bytes, blob.size - offset), offset)
        if not part and offset < blob.size:
            raise Shortened
        return part

    def is_intact(self, blob: Blob) -> bool:
        """Whether a content still is what its digest says; OSError as above."""
        with self._opened(blob) as file:
            return self._copy(file, None)[0] == blob.digest

    def remove(self, blob: Blob) -> bool:
        """Delete a content: it is delivered, or never will be; False if that fails."""
        try:
            (self.folder / blob.digest).unlink()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def go_on_in(self, spool: Path) -> None:
        """Keep what comes from now on in another spool's folder."""
        self.folder = spool / FOLDER

    @contextlib.contextmanager
    def _opened(self, blob: Blob) -> Iterator[int]:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.folder / blob.digest, flags)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _made(self) -> Iterator[tuple[Path, BinaryIO]]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = self.folder / f".{uuid.uuid4().hex}.new"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(place, flags, 0o600), "w+b", buffering=0) as file:
                yield place, file
        finally:
            with contextlib.suppress(OSError):
                place.unlink()

    def _named(self, place: Path, file: BinaryIO, digest: str, size: int) -> Blob:
        # Before it has its name: under a digest lies nothing else, whatever the power does.
        if not self._is_hurried():
            sync_open(file.fileno())
        place.rename(self.folder / digest)
        self._unsynced.add(self.folder)
        if self._count is not None:
            self._count.size += size
        return Blob(digest, size)

    def _copy(
        self, source: int, to: BinaryIO | None, *, most_bytes: int = 2**63
    ) -> tuple[str, int]:
        """Copy to the end, or until it is more; return its digest and its size."""
        total = hashlib.sha256()
        size = 0
        while size <= most_bytes and (data := os.pread(source, _READ_BYTES, size)):
            total.update(data)
            size += len(data)
            if to is None:
                self._progress()
            else:
                _write_all(to, data)
                self._note_written(to, size - len(data), size)
        return total.hexdigest(), size

    def _note_written(self, file: BinaryIO, before: int, size: int) -> None:
        is_much = size // _SYNC_BYTES > before // _SYNC_BYTES
        if is_much and not self._is_hurried():
            sync_open(file.fileno())
        self._progress()

    def _check_room(self, size: int) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        space = os.statvfs(self.folder)
        if space.f_bavail * space.f_frsize - size < _MIN_FREE_BYTES:
            raise OSError(errno.ENOSPC, "the disk would be nearly full")
        if self._is_full(size):
            raise OSError(errno.EDQUOT, "the files that wait for delivery are too many")

    def _is_full(self, size: int) -> bool:
        count = self._count
        if count is None or count.folder != self.folder:
            count = self._counted()
        elif (
            count.size + size > self._most_bytes and time.monotonic() >= count.again_at
        ):
            # Another thread delivers, and tells nobody.
            count = self._counted()
        return count.size + size > self._most_bytes

    def _counted(self) -> _Count:
        folder, began = self.folder, time.monotonic()
        try:
            size = sum(blob.size for blob in self.pending())
        except OSError:
            # No reason not to store a file; counted the next time.
            return _Count(folder, 0, began)
        ended = time.monotonic()
        self._count = _Count(folder, size, ended + _RESTS * (ended - began))
        return self._count

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        # There is no folder before the first file.
        absent = contextlib.suppress(FileNotFoundError, NotADirectoryError)
        with absent, os.scandir(self.folder) as entries:
            for entry in entries:
                # Links could lead anywhere; the folder is ours, its content is not trusted.
                if _DIGEST.fullmatch(entry.name) and entry.is_file(
                    follow_symlinks=False
                ):
                    yield entry


def _clone(source: int, to: int) -> bool:
    """Make a file a copy of another in no time; False where that is not possible."""
    try:
        fcntl.ioctl(to, _FICLONE, source)
    except OSError:
        return False
    return True


def _write_all(file: BinaryIO, data: bytes) -> None:
    """Write what is left again and again: the next write says why it took too little."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
