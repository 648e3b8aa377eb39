"""Small files next to the frames, in folders whose content is not trusted.

Does not follow links, wait for pipes, or read files without end.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# Larger than any file that the agent writes.
LARGEST_BYTES = 32 * 1024 * 1024
# Errors for a missing file, or a file that the agent did not create.
NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EINVAL)
# Errors caused by this process or machine, not by the file.
NO_MEANS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)

_CAREFULLY = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class CutOff(OSError):
    """A file is readable only up to an offset; `data` is the part before it."""

    def __init__(self, data: bytes, error: OSError) -> None:
        super().__init__(error.errno, error.strerror)
        self.data = data


def read_file(path: Path, offset: int = 0, most: int = LARGEST_BYTES) -> bytes:
    """Return up to `most` bytes of a regular file from an offset; raises OSError."""
    file = _opened(path, os.O_RDONLY)
    try:
        length = max(0, os.fstat(file).st_size - offset)
        return read_all(file, min(length, most), offset)
    finally:
        os.close(file)


def read_all(file: int, length: int, offset: int) -> bytes:
    """Return `length` bytes of an open file, fewer only at its end; OSError or CutOff."""
    data = os.pread(file, length, offset)
    # Reading stops early before an unreadable area, as if the file ended there.
    while len(data) < length:
        try:
            more = os.pread(file, length - len(data), offset + len(data))
        except OSError as error:
            raise CutOff(data, error) from error
        if not more:
            break
        data += more
    return data


def read_if_there(path: Path) -> bytes:
    """Return the file's content; b"" if it is missing or not the agent's own."""
    try:
        return read_file(path)
    except OSError as error:
        if error.errno not in NO_FILE:
            raise
        return b""


def write_file(path: Path, content: bytes) -> None:
    """Write or overwrite a file; OSError if its name belongs to something else."""
    file = _opened(path, os.O_WRONLY | os.O_CREAT)
    try:
        written = os.write(file, content)
        # Truncated afterwards, so that it is never empty.
        os.ftruncate(file, written)
    finally:
        os.close(file)
    if written < len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def append_to_file(folder: Path, name: str, content: bytes) -> None:
    """Append to a file, creating its folder if needed; raises OSError."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    file = _opened(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(file, content)
    finally:
        os.close(file)


def sync(path: Path) -> None:
    """Sync a file, or the names in a folder, to disk; raises OSError."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        sync_open(file)
    finally:
        os.close(file)


def sync_open(file: int) -> None:
    """Sync an open file to disk; raises OSError."""
    try:
        os.fsync(file)
    except OSError as error:
        # Some file systems do not support it, for example for folders.
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise


def _opened(path: Path, flags: int) -> int:
    file = os.open(path, flags | _CAREFULLY, 0o600)
    found = os.fstat(file)
    # With a second hard link, writing would change a foreign file.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(file)
        raise OSError(errno.EINVAL, "not a file created by the agent")
    return file
