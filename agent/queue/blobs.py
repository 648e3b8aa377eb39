"""Contents of files in a spool's folder, stored by digest until they are delivered.

A file under its digest name is always a complete copy.
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
# A large file is synced in parts of this size, so that a waiting caller sees progress.
_SYNC_BYTES = 64 * 1024 * 1024
# Limit for files that report size 0 but have content, such as those in /proc.
_UNSAID_BYTES = 64 * 1024 * 1024
_ATTEMPTS = 3
# Free space left for other programs on the disk.
_MIN_FREE_BYTES = 1024 * 1024 * 1024
# The queued contents are recounted only after this many times the duration of the last
# count.
_RESTS = 10
# Linux: share the blocks of another file on file systems that support it.
_FICLONE = 0x40049409


class Blob(NamedTuple):
    """A content that waits for delivery."""

    digest: str
    size: int


@dataclass
class _Count:
    """An upper bound of the bytes queued in a folder; contents delivered since are
    included.
    """

    folder: Path
    size: int
    again_at: float  # time.monotonic()


class Changed(Exception):
    """A file kept changing during every attempt to copy it."""


class Shortened(Exception):
    """A content is shorter than when it was listed."""


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
        """Open the folder; while `is_hurried()` is true, contents are not synced to
        disk.
        """
        self.folder = spool / FOLDER
        self._most_bytes = most_bytes
        self._progress = progress
        self._count: _Count | None = None
        self._is_hurried = is_hurried
        # Folders with new names that may not be on the disk yet, and folders whose own
        # name is synced.
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
        """Store a consistent copy of an open file; raises OSError or Changed."""
        for _ in range(_ATTEMPTS):
            before = os.fstat(descriptor)
            self._check_room(before.st_size)
            with self._made() as (place, file):
                if _clone(descriptor, file.fileno()):
                    return self._named(place, file, *self._copy(file.fileno(), None))
                # Otherwise a file that grows as fast as it is copied would be copied
                # without end.
                most = before.st_size or _UNSAID_BYTES
                digest, size = self._copy(descriptor, file, most_bytes=most)
                after = os.fstat(descriptor)
                # Detects changes in place; a replaced file keeps this descriptor
                # unchanged.
                is_same = (before.st_size, before.st_mtime_ns) == (
                    after.st_size,
                    after.st_mtime_ns,
                )
                if is_same and size <= most:
                    return self._named(place, file, digest, size)
        raise Changed

    def sync(self) -> None:
        """Sync the names of all stored contents to disk; OSError on failure.

        The contents are synced already. Call it once for many files, because each call
        writes the folder to disk.
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
        """Return the contents that wait for delivery, oldest first; takes O(contents).

        OSError if the folder cannot be read now.
        """
        found = []
        for entry in self._entries():
            # It may be delivered in the meantime.
            with contextlib.suppress(FileNotFoundError):
                known = entry.stat(follow_symlinks=False)
                found.append((known.st_mtime_ns, Blob(entry.name, known.st_size)))
        return [blob for _, blob in sorted(found)]

    def digests(self) -> Iterator[str]:
        """Yield the digests that wait for delivery, lazily and in no order; raises
        OSError.
        """
        for entry in self._entries():
            yield entry.name

    def read(self, blob: Blob, offset: int, most_bytes: int) -> bytes:
        """Return a part of a content; OSError if it cannot be read now, Shortened if
        never.
        """
        with self._opened(blob) as file:
            part = os.pread(file, min(most_bytes, blob.size - offset), offset)
        if not part and offset < blob.size:
            raise Shortened
        return part

    def is_intact(self, blob: Blob) -> bool:
        """Return whether a content still matches its digest; raises OSError."""
        with self._opened(blob) as file:
            return self._copy(file, None)[0] == blob.digest

    def remove(self, blob: Blob) -> bool:
        """Delete a content; return False if that fails."""
        try:
            (self.folder / blob.digest).unlink()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def go_on_in(self, spool: Path) -> None:
        """Store new contents in another spool's folder from now on."""
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
        # Synced before the rename, so that a digest name never has partial content,
        # even after a power failure.
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
        """Copy to the end or past `most_bytes`; return the digest and the size."""
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
            raise OSError(errno.EDQUOT, "too many files wait for delivery")

    def _is_full(self, size: int) -> bool:
        count = self._count
        if count is None or count.folder != self.folder:
            count = self._counted()
        elif (
            count.size + size > self._most_bytes and time.monotonic() >= count.again_at
        ):
            # Another thread delivers contents without updating this count.
            count = self._counted()
        return count.size + size > self._most_bytes

    def _counted(self) -> _Count:
        folder, began = self.folder, time.monotonic()
        try:
            size = sum(blob.size for blob in self.pending())
        except OSError:
            # Not a reason to reject a file; the next call counts again.
            return _Count(folder, 0, began)
        ended = time.monotonic()
        self._count = _Count(folder, size, ended + _RESTS * (ended - began))
        return self._count

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        # The folder is created with the first file.
        absent = contextlib.suppress(FileNotFoundError, NotADirectoryError)
        with absent, os.scandir(self.folder) as entries:
            for entry in entries:
                # The folder's content is not trusted: a link could lead anywhere.
                if _DIGEST.fullmatch(entry.name) and entry.is_file(
                    follow_symlinks=False
                ):
                    yield entry


def _clone(source: int, to: int) -> bool:
    """Share the blocks of a file (reflink); False if that is not supported."""
    try:
        fcntl.ioctl(to, _FICLONE, source)
    except OSError:
        return False
    return True


def _write_all(file: BinaryIO, data: bytes) -> None:
    """Write all bytes; after a partial write, the next write raises the reason."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
