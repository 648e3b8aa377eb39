"""Descriptors that the agent keeps, in a process that may close those of others.

Who becomes a daemon closes every number, and the next file that is opened gets the
lowest: whatever is then written to one that was kept, or closed, is somebody else's.
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple


class Descriptor(NamedTuple):
    """A number, and which file it was of when it was opened."""

    number: int
    device: int
    inode: int

    def stat(self) -> os.stat_result | None:
        """Return what is known of the file; None if the number is not its own any more."""
        try:
            found = os.fstat(self.number)
        except OSError as error:
            if error.errno == errno.EBADF:
                return None
            raise
        is_ours = (found.st_dev, found.st_ino) == (self.device, self.inode)
        return found if is_ours else None

    def close(self) -> None:
        """Close it, unless that was done already; OSError where that fails."""
        try:
            is_ours = self.stat() is not None
        except OSError:
            # Of a disk that is lost, as ours may be.
            is_ours = True
        if is_ours:
            os.close(self.number)


def descriptor(number: int) -> Descriptor:
    """Return what is kept of a file that was just opened, or close it and raise."""
    try:
        found = os.fstat(number)
    except OSError:
        os.close(number)
        raise
    return Descriptor(number, found.st_dev, found.st_ino)
