"""A lock file per spool: held as long as its process lives, by whatever end."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

LOCK_FILE = "lock"

_held: set[int] = set()


def acquire(folder: Path, *, create: bool = False) -> int | None:
    """Lock a spool folder and return the lock; None if somebody else has it."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
    try:
        lock = os.open(folder / LOCK_FILE, flags, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    _held.add(lock)
    return lock


def release(lock: int) -> None:
    """Give a lock back."""
    if lock in _held:
        _held.discard(lock)
        os.close(lock)


def is_of(lock: int, folder: Path) -> bool:
    """Whether a lock is the one of that folder, which may be another by now."""
    try:
        return os.path.samestat(os.fstat(lock), (folder / LOCK_FILE).stat())
    except OSError:
        return False


def is_held(folder: Path) -> bool:
    """Whether a living process, this one included, has the lock."""
    lock = acquire(folder)
    if lock is None:
        return (folder / LOCK_FILE).exists()
    release(lock)
    return False


def _close_in_child() -> None:
    # A forked child shares its parent's locks; kept open, they would outlive
    # the parent and keep its spool from being delivered.
    for lock in _held:
        os.close(lock)
    _held.clear()


os.register_at_fork(after_in_child=_close_in_child)
