"""Candidate folders for a spool: the configured one, then fallback folders."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from seamark.queue.mounts import file_system_of
from seamark.queue.ring import SHARED_MEMORY

# Limit of a spool in memory. It is not used if that would be a large share of the free
# memory, because data loaders crash when shared memory is full.
_MEMORY_BYTES = 16 * 1024 * 1024
_SMALLEST_PART = 16
_PREFIX = "seamark-spool-"


class Place(NamedTuple):
    """A folder for spools; `root` creates it and raises OSError on failure."""

    root: Callable[[], Path]
    most_bytes: int | None = None  # limit for a spool there, if lower than elsewhere

    def at_most(self, most_bytes: int | None) -> int | None:
        """Return the smaller of the place's limit and the given one."""
        if most_bytes is None or self.most_bytes is None:
            return most_bytes if self.most_bytes is None else self.most_bytes
        return min(most_bytes, self.most_bytes)


def places(chosen: Path) -> Iterator[Place]:
    """Yield the candidates, best first: the configured folder, then fallback folders."""
    yield Place(lambda: chosen)
    yield Place(lambda: Path(tempfile.mkdtemp(prefix=_PREFIX)))
    yield Place(_in_memory, _MEMORY_BYTES)


def _in_memory() -> Path:
    space = os.statvfs(SHARED_MEMORY)
    is_scarce = space.f_bavail * space.f_frsize < _SMALLEST_PART * _MEMORY_BYTES
    if is_scarce or file_system_of(SHARED_MEMORY) != "tmpfs":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=SHARED_MEMORY))
