"""File contents on disk, by digest in the folder of their workspace.

Another storage needs a class with the same methods. File names consist of a workspace
id and a validated digest only.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Protocol

DIGEST = re.compile(r"[0-9a-f]{64}")
READ_BYTES = 1024 * 1024
# Maximum time per request for hashing bytes that another process received.
CHECK_SECONDS = 10.0
# Cached hashes of partial uploads; others are read again.
REMEMBERED_HASHES = 64
ARRIVING, SUFFIX = "arriving", ".part"


class InUse(Exception):
    """Another request is uploading the same content."""


class Hash(Protocol):
    """A hashlib object."""

    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class Arriving:
    """A partial upload, locked against other requests."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        self.length = file.seek(0, os.SEEK_END)

    def add(self, data: bytes) -> None:
        """Append data, which stays whatever happens next."""
        at = self.length
        _write_all(self._file, data)
        self.length += len(data)
        known = _hashes.get(self.path)
        if (at == 0) or (known is not None and known[0] == at):
            total = hashlib.sha256() if known is None or at == 0 else known[1]
            total.update(data)
            _hashes.put(self.path, self.length, total)

    def digest(self) -> str | None:
        """Return the digest of the received bytes; None if hashing takes too long."""
        done, total = _hashes.get(self.path) or (0, hashlib.sha256())
        if done > self.length:
            done, total = 0, hashlib.sha256()
        deadline = time.monotonic() + CHECK_SECONDS
        self._file.seek(done)
        while data := self._file.read(READ_BYTES):
            total.update(data)
            done += len(data)
            if time.monotonic() > deadline:
                break
        self._file.seek(0, os.SEEK_END)
        _hashes.put(self.path, done, total)
        return total.hexdigest() if done == self.length else None

    def sync(self) -> None:
        """Flush to disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def discard(self) -> None:
        """Delete the received bytes."""
        self._file.truncate(0)
        self._file.seek(0)
        self.length = 0
        _hashes.forget(self.path)


class BlobFolder:
    """File contents in a local folder, or in one shared by all servers."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def received(self, workspace: int, digest: str) -> int:
        """Return the number of received bytes of a partial upload."""
        try:
            return self._arriving(workspace, digest).stat().st_size
        except FileNotFoundError:
            return 0

    @contextmanager
    def arriving(self, workspace: int, digest: str) -> Iterator[Arriving]:
        """Open and lock a partial upload; raise InUse if another request holds it."""
        path = self._arriving(workspace, digest)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InUse from error
            # It was completed or deleted before we got the lock.
            if os.fstat(file.fileno()).st_nlink == 0 or not _is_at(file, path):
                raise InUse
            yield Arriving(path, file)

    def keep(self, workspace: int, digest: str) -> None:
        """Move a complete content to its place, replacing an existing one."""
        place = self._place(workspace, digest)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        arriving = self._arriving(workspace, digest)
        arriving.replace(place)
        _hashes.forget(arriving)
        for folder in (place.parent, place.parent.parent):
            _sync(folder)

    def open(self, workspace: int, digest: str) -> BinaryIO:
        """Open a content for reading; raise FileNotFoundError if it is missing."""
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.fdopen(os.open(self._place(workspace, digest), flags), "rb")

    def remove(self, workspace: int, digest: str) -> None:
        self._place(workspace, digest).unlink(missing_ok=True)

    def contents(self, shard: str = "??") -> Iterator[tuple[int, str, float]]:
        """Yield workspace, digest and time of the contents of one shard or of all."""
        for path in self._root.glob(f"*/{shard}/*"):
            if path.parts[-3].isdigit() and DIGEST.fullmatch(path.name):
                with suppress(OSError):
                    yield int(path.parts[-3]), path.name, path.lstat().st_mtime

    def sweep(self, *, before: float) -> int:
        """Delete partial uploads without recent parts; return their number."""
        count = 0
        for path in (self._root / ARRIVING).glob(f"*{SUFFIX}"):
            with suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(file.fileno()).st_mtime < before:
                    path.unlink()
                    _hashes.forget(path)
                    count += 1
        return count

    def free_bytes(self) -> int:
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        space = os.statvfs(self._root)
        return space.f_bavail * space.f_frsize

    def _place(self, workspace: int, digest: str) -> Path:
        return self._root / str(workspace) / _checked(digest)[:2] / digest

    def _arriving(self, workspace: int, digest: str) -> Path:
        name = f"{int(workspace)}-{_checked(digest)}{SUFFIX}"
        return self._root / ARRIVING / name


class _Hashes:
    """Running hashes of partial uploads, so that no byte is read twice."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[Path, tuple[int, Hash]] = OrderedDict()

    def get(self, path: Path) -> tuple[int, Hash] | None:
        with self._lock:
            return self._known.get(path)

    def put(self, path: Path, length: int, total: Hash) -> None:
        with self._lock:
            self._known[path] = length, total
            self._known.move_to_end(path)
            while len(self._known) > REMEMBERED_HASHES:
                self._known.popitem(last=False)

    def forget(self, path: Path) -> None:
        with self._lock:
            self._known.pop(path, None)


_hashes = _Hashes()


def _write_all(file: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        # Unbuffered, so a write may be partial.
        view = view[file.write(view) :]


def _checked(digest: str) -> str:
    if not DIGEST.fullmatch(digest):
        raise ValueError("not a digest")
    return digest


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(file.fileno()))


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
