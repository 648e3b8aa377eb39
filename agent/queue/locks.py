"""A lock file per spool, held until its process ends in any way."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from seamark.queue.descriptors import Descriptor, descriptor

LOCK_FILE = "lock"

# Valid as long as the descriptor still belongs to the locked file.
Lock = Descriptor

_held: set[Lock] = set()


def acquire(folder: Path, *, create: bool = False) -> Lock | None:
    """Lock a spool folder and return the lock; None on failure.

    Another process holds it, or locking fails, for example on a read-only disk: see
    `obstacle`.
    """
    try:
        return _acquired(folder, os.O_RDWR | (os.O_CREAT if create else 0))
    except OSError:
        return None


def release(lock: Lock) -> None:
    """Release a lock."""
    if lock in _held:
        _held.discard(lock)
        lock.close()


def is_kept(lock: Lock) -> bool:
    """Return whether the descriptor is still open; otherwise the lock is lost."""
    return lock.stat() is not None


def is_of(lock: Lock, folder: Path) -> bool:
    """Return whether a lock belongs to the current lock file of a folder."""
    try:
        found = lock.stat()
        return found is not None and os.path.samestat(
            found, (folder / LOCK_FILE).stat()
        )
    except OSError:
        return False


def is_held(folder: Path) -> bool:
    """Return whether a live process, possibly this one, holds the lock."""
    return isinstance(obstacle(folder), BlockingIOError)


def obstacle(folder: Path) -> OSError | None:
    """Return the error that prevents locking a spool folder; None if there is none.

    It is a BlockingIOError if a live process, possibly this one, holds the lock.
    """
    try:
        release(_acquired(folder, os.O_RDWR))
    except BlockingIOError as error:
        return error
    except OSError as error:
        return _probed_lock(folder) or error
    return None


def _probed_lock(folder: Path) -> BlockingIOError | None:
    # A folder that is read-only here may be locked by a process elsewhere.
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
    # A forked child shares its parent's locks. Left open, they would outlive the parent
    # and block the delivery of its spool.
    for lock in _held:
        # Python would print exceptions of this function.
        with contextlib.suppress(OSError):
            lock.close()
    _held.clear()


os.register_at_fork(after_in_child=_close_in_child)
