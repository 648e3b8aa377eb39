"""Small files beside the frames, in folders whose content is not trusted.

No link is followed, no pipe waited for, and nothing read that never ends.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# No file that the agent makes is as long.
LARGEST_BYTES = 32 * 1024 * 1024
# What an error says where there is nothing, or no file of the agent's own.
NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EINVAL)
# What one says of this process or machine, and not of the file.
NO_MEANS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)

_CAREFULLY = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class CutOff(OSError):
    """A file can be read up to a place only; `data` is what lies before it."""

    def __init__(self, data: bytes, error: OSError) -> None:
        super().__init__(error.errno, error.strerror)
        self.data = data


def read_file(path: Path, offset: int = 0, most: int = LARGEST_BYTES) -> bytes:
    """Return up to so many bytes of a file from an offset on; OSError for what is none."""
    file = _opened(path, os.O_RDONLY)
    try:
        length = max(0, os.fstat(file).st_size - offset)
        return read_all(file, min(length, most), offset)
    finally:
        os.close(file)


def read_all(file: int, length: int, offset: int) -> bytes:
    """Return so many bytes of an open file, fewer only where it ends; OSError, or CutOff."""
    data = os.pread(file, length, offset)
    # Before what cannot be read, reading ends early, as if the file did.
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
    """As `read_file`; nothing where there is none, or one that is not the agent's own."""
    try:
        return read_file(path)
    except OSError as error:
        if error.errno not in NO_FILE:
            raise
        return b""


def write_file(path: Path, content: bytes) -> None:
    """Write a file, or over it; OSError where there is something else of its name."""
    file = _opened(path, os.O_WRONLY | os.O_CREAT)
    try:
        written = os.write(file, content)
        # Afterwards, so that there is no moment at which it is empty.
        os.ftruncate(file, written)
    finally:
        os.close(file)
    if written < len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def append_to_file(folder: Path, name: str, content: bytes) -> None:
    """Add to a file of a folder that is made if need be; OSError as above."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    file = _opened(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(file, content)
    finally:
        os.close(file)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, survive the machine; OSError if not."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        sync_open(file)
    finally:
        os.close(file)


def sync_open(file: int) -> None:
    """Wait for it likewise, of an open file."""
    try:
        os.fsync(file)
    except OSError as error:
        # Some file systems have nothing to do for it, such as for folders.
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise


def _opened(path: Path, flags: int) -> int:
    file = os.open(path, flags | _CAREFULLY, 0o600)
    found = os.fstat(file)
    # Of another name of somebody's file, what is written would be in that.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(file)
        raise OSError(errno.EINVAL, "it is not a file of the agent's own")
    return file
