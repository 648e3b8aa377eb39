"""Reads kernel files while holding the GIL.

Python releases the GIL around each system call. A training that computes in Python then
takes it and may keep it for a switch interval: thread switches for a read of a few
microseconds, dozens of times a second.

These reads keep the GIL and so block the training. They are used only for files that
the kernel serves from memory without contended locks, and not after slow reads.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

from seamark.queue.mounts import mounts_in

try:
    import ctypes
except ImportError:  # Python without ctypes uses normal reads
    ctypes = None  # type: ignore[assignment]

# Kernel file systems: no disk, network or program is involved.
_KERNELS_OWN = ("proc", "cgroup", "cgroup2")
_MAX_BYTES = 1 << 16
_SLOW_SECONDS, _FAR_TOO_SLOW_SECONDS = 0.0005, 0.005
# A single slow read may have waited for its CPU.
_MAX_SLOW_IN_A_ROW = 3
# Normal reads after slow ones: at one a second, for ten minutes.
_REST = 600


class Quickness:
    """Tracks whether reads of a file are fast."""

    def __init__(self) -> None:
        self._slow_in_a_row = 0
        self._rest = 0

    def is_trusted(self) -> bool:
        """Return whether the next read may hold the GIL."""
        self._rest = max(0, self._rest - 1)
        return not self._rest

    def timed(self, read: Callable[[], bytes]) -> bytes:
        began = perf_counter()
        text = read()
        seconds = perf_counter() - began
        self._slow_in_a_row = self._slow_in_a_row + 1 if seconds > _SLOW_SECONDS else 0
        is_often_slow = self._slow_in_a_row >= _MAX_SLOW_IN_A_ROW
        if is_often_slow or seconds > _FAR_TOO_SLOW_SECONDS:
            self._slow_in_a_row, self._rest = 0, _REST
        return text


def is_kernels_own(file: int) -> bool:
    """Return whether the kernel itself serves an open file, and ctypes is usable.

    In containers, files in /proc may be served by a FUSE program.
    """
    return (
        _library() is not None
        and os.fstat(file).st_dev in _devices_of_the_kernels_own()
    )


@lru_cache(maxsize=1)
def is_proc_kernels_own() -> bool:
    """Return whether the kernel itself serves the process files in /proc."""
    try:
        file = os.open("/proc/self/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return is_kernels_own(file)
    finally:
        os.close(file)


def opened(path: str) -> int:
    """Open a file for reading, and return its descriptor.

    Raises:
        OSError: It cannot be opened.
    """
    file: int = _library().open(os.fsencode(path), os.O_RDONLY | os.O_CLOEXEC)
    if file < 0:
        raise _error(path)
    return file


def closed(file: int) -> None:
    _library().close(file)


def read_at(file: int, place: int) -> bytes:
    """Read up to 64 KiB at an offset.

    Raises:
        OSError: It cannot be read.
    """
    buffer = _own.buffer
    if buffer is None:
        buffer = _own.buffer = ctypes.create_string_buffer(_MAX_BYTES)
    size: int = _library().pread(file, buffer, _MAX_BYTES, place)
    if size < 0:
        raise _error()
    found: bytes = buffer[:size]
    return found


def devices_of(mounts: bytes, kinds: tuple[str, ...]) -> set[int]:
    """Return the devices of mounts of these types, from mountinfo lines (pure)."""
    found = set()
    for mount in mounts_in(mounts):
        major, _, minor = mount.device.partition(":")
        if mount.kind in kinds and major.isdigit() and minor.isdigit():
            found.add(os.makedev(int(major), int(minor)))
    return found


class _Own(threading.local):
    """A buffer per thread: another thread may read before the data is copied."""

    buffer: Any = None  # an array of a ctypes type


_own = _Own()


def _error(*path: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), *path)


# Any: the functions of a library have no types.
@lru_cache(maxsize=1)
def _library() -> Any:
    """Return the C library, called while holding the GIL; None if useless.

    Without a GIL there is nothing to hold. On 32-bit systems the size of a file offset
    varies.
    """
    is_shared = getattr(sys, "_is_gil_enabled", lambda: True)()
    if ctypes is None or not is_shared or sys.maxsize < 1 << 32:
        return None
    try:
        library = ctypes.PyDLL(None, use_errno=True)
        library.open.argtypes = (ctypes.c_char_p, ctypes.c_int)
        library.close.argtypes = (ctypes.c_int,)
        library.pread.argtypes = (
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_long,
        )
        library.pread.restype = ctypes.c_ssize_t
    except (OSError, AttributeError, TypeError):
        return None
    return library


@lru_cache(maxsize=1)
def _devices_of_the_kernels_own() -> frozenset[int]:
    try:
        mounts = Path("/proc/self/mountinfo").read_bytes()
    except OSError:
        return frozenset()
    return frozenset(devices_of(mounts, _KERNELS_OWN))
