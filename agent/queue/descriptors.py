"""File descriptors that the agent keeps open, protected against reuse of their numbers.

A process that becomes a daemon closes all descriptors, and the next opened file gets
the lowest number. Writing to or closing the old number would hit that file.
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple


class Descriptor(NamedTuple):
    """A descriptor number and the identity of the file it was opened for."""

    number: int
    device: int
    inode: int

    def stat(self) -> os.stat_result | None:
        """Return the file's status; None if the number now belongs to another file."""
        try:
            found = os.fstat(self.number)
        except OSError as error:
            if error.errno == errno.EBADF:
                return None
            raise
        is_ours = (found.st_dev, found.st_ino) == (self.device, self.inode)
        return found if is_ours else None

    def close(self) -> None:
        """Close it unless it was closed already; raises OSError."""
        try:
            is_ours = self.stat() is not None
        except OSError:
            # The disk failed; the descriptor may still be ours.
            is_ours = True
        if is_ours:
            os.close(self.number)


def descriptor(number: int) -> Descriptor:
    """Record the identity of a file that was just opened, or close it and raise
    OSError.
    """
    try:
        found = os.fstat(number)
    except OSError:
        os.close(number)
        raise
    return Descriptor(number, found.st_dev, found.st_ino)
