"""Where a spool may lie: where it was asked for, then where anything may be written."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from seamark.queue.mounts import file_system_of
from seamark.queue.ring import SHARED_MEMORY

# Of memory, a spool takes at most this and what is written to a file meanwhile; and
# none where that would be a large part of it, as data loaders die where it runs out.
_MEMORY_BYTES = 16 * 1024 * 1024
_SMALLEST_PART = 16
_PREFIX = "seamark-spool-"


class Place(NamedTuple):
    """A folder for spools, which is made when it is asked for; OSError if it cannot be."""

    root: Callable[[], Path]
    most_bytes: int | None = None  # of a spool there, if not as anywhere else

    def at_most(self, most_bytes: int | None) -> int | None:
        """Return how much a spool may hold there that may hold so much elsewhere."""
        if most_bytes is None or self.most_bytes is None:
            return most_bytes if self.most_bytes is None else self.most_bytes
        return min(most_bytes, self.most_bytes)


def places(chosen: Path) -> Iterator[Place]:
    """Yield each place to try, best first: the folder of the settings, then others."""
    yield Place(lambda: chosen)
    yield Place(lambda: Path(tempfile.mkdtemp(prefix=_PREFIX)))
    yield Place(_in_memory, _MEMORY_BYTES)


def _in_memory() -> Path:
    space = os.statvfs(SHARED_MEMORY)
    is_scarce = space.f_bavail * space.f_frsize < _SMALLEST_PART * _MEMORY_BYTES
    if is_scarce or file_system_of(SHARED_MEMORY) != "tmpfs":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=SHARED_MEMORY))
