"""Contents of files on disk, each under its digest in the folder of its workspace.

Whoever keeps them elsewhere needs a class with the same few methods. Names are made of
a workspace's number and a digest that was checked, of nothing that anybody sends.
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
# How long one request may go on reading what came before this process looked.
CHECK_SECONDS = 10.0
# Of contents on their way; those that are forgotten are read once more.
REMEMBERED_HASHES = 64
ARRIVING, SUFFIX = "arriving", ".part"


class InUse(Exception):
    """Somebody else is sending the same content at this moment."""


class Hash(Protocol):
    """What hashlib makes."""

    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class Arriving:
    """A content of which some has come; locked, so that nobody else adds to it."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        self.length = file.seek(0, os.SEEK_END)

    def add(self, data: bytes) -> None:
        """Append; what was appended stays, whatever happens next."""
        at = self.length
        _write_all(self._file, data)
        self.length += len(data)
        known = _hashes.get(self.path)
        if (at == 0) or (known is not None and known[0] == at):
            total = hashlib.sha256() if known is None or at == 0 else known[1]
            total.update(data)
            _hashes.put(self.path, self.length, total)

    def digest(self) -> str | None:
        """Return the digest of what has come; None if it took too long to read so far."""
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
        """Wait until all of it survives the machine."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def discard(self) -> None:
        """Begin again with nothing."""
        self._file.truncate(0)
        self._file.seek(0)
        self.length = 0
        _hashes.forget(self.path)


class BlobFolder:
    """Contents below a folder of this machine, or one that all its servers share."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def received(self, workspace: int, digest: str) -> int:
        """Return how many bytes of a content on its way are there."""
        try:
            return self._arriving(workspace, digest).stat().st_size
        except FileNotFoundError:
            return 0

    @contextmanager
    def arriving(self, workspace: int, digest: str) -> Iterator[Arriving]:
        """Open a content on its way, alone; raise InUse where somebody else has it."""
        path = self._arriving(workspace, digest)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InUse from error
            # It was made whole, or swept away, before the lock was ours.
            if os.fstat(file.fileno()).st_nlink == 0 or not _is_at(file, path):
                raise InUse
            yield Arriving(path, file)

    def keep(self, workspace: int, digest: str) -> None:
        """Give a content that is whole its place, instead of one that may be there."""
        place = self._place(workspace, digest)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        arriving = self._arriving(workspace, digest)
        arriving.replace(place)
        _hashes.forget(arriving)
        for folder in (place.parent, place.parent.parent):
            _sync(folder)

    def open(self, workspace: int, digest: str) -> BinaryIO:
        """Open a content to read; FileNotFoundError if it is not there."""
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.fdopen(os.open(self._place(workspace, digest), flags), "rb")

    def remove(self, workspace: int, digest: str) -> None:
        self._place(workspace, digest).unlink(missing_ok=True)

    def contents(self, shard: str = "??") -> Iterator[tuple[int, str, float]]:
        """Yield workspace, digest and time of what is there, of one shard or of all."""
        for path in self._root.glob(f"*/{shard}/*"):
            if path.parts[-3].isdigit() and DIGEST.fullmatch(path.name):
                with suppress(OSError):
                    yield int(path.parts[-3]), path.name, path.lstat().st_mtime

    def sweep(self, *, before: float) -> int:
        """Forget contents on their way of which nothing came since; return how many."""
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
    """How far contents on their way were hashed, so that none is read twice."""

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
        # Unbuffered, so that nothing is held back; it may take some of it only.
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
