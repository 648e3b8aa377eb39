"""A lock file per spool: held as long as its process lives, by whatever end."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from seamark.queue.descriptors import Descriptor, descriptor

LOCK_FILE = "lock"

# As long as the number is of the file that was locked, and nobody closed it.
Lock = Descriptor

_held: set[Lock] = set()


def acquire(folder: Path, *, create: bool = False) -> Lock | None:
    """Lock a spool folder and return the lock; None if that cannot be done.

    Either somebody else has it, or nobody can, as on a read-only disk: see `obstacle`.
    """
    try:
        return _acquired(folder, os.O_RDWR | (os.O_CREAT if create else 0))
    except OSError:
        return None


def release(lock: Lock) -> None:
    """Give a lock back."""
    if lock in _held:
        _held.discard(lock)
        lock.close()


def is_kept(lock: Lock) -> bool:
    """Whether nobody closed it under us, after which others may have it."""
    return lock.stat() is not None


def is_of(lock: Lock, folder: Path) -> bool:
    """Whether a lock is the one of that folder, which may be another by now."""
    try:
        found = lock.stat()
        return found is not None and os.path.samestat(
            found, (folder / LOCK_FILE).stat()
        )
    except OSError:
        return False


def is_held(folder: Path) -> bool:
    """Whether a living process, this one included, is seen to have the lock."""
    return isinstance(obstacle(folder), BlockingIOError)


def obstacle(folder: Path) -> OSError | None:
    """Return what keeps a spool folder from being locked; None if nothing does.

    It is a BlockingIOError if a living process, this one included, has the lock.
    """
    try:
        release(_acquired(folder, os.O_RDWR))
    except BlockingIOError as error:
        return error
    except OSError as error:
        return _seen_held(folder) or error
    return None


def _seen_held(folder: Path) -> BlockingIOError | None:
    # What is read-only here may be written, and held, by a process elsewhere.
    try:
        release(_acquired(folder, os.O_RDONLY | os.O_NONBLOCK))
    except BlockingIOError as error:
        return error
    except OSError:
        pass
    return None


def _acquired(folder: Path, flags: int) -> Lock:
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW
    number = os.open(folder / LOCK_FILE, flags, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        raise
    lock = descriptor(number)
    _held.add(lock)
    return lock


def _close_in_child() -> None:
    # A forked child shares its parent's locks; kept open, they would outlive
    # the parent and keep its spool from being delivered.
    for lock in _held:
        # What is raised here, Python prints.
        with contextlib.suppress(OSError):
            lock.close()
    _held.clear()


os.register_at_fork(after_in_child=_close_in_child)
