"""Reads of the kernel's own files that keep the interpreter for themselves.

Python gives the interpreter away around each system call. A training that computes in
Python is woken up to take it, and may keep it until it is made to hand it back: changes
of thread for a read that takes some microseconds, and for dozens of them each second.
These reads give nothing away. Whoever keeps the interpreter keeps the training from it,
so they are for files alone that the kernel answers out of its memory without waiting for
anybody, and not after they were slow.
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
except ImportError:  # a Python without it reads as ever
    ctypes = None  # type: ignore[assignment]

# File systems of the kernel: no disk, no network and no program answers.
_KERNELS_OWN = ("proc", "cgroup", "cgroup2")
_MAX_BYTES = 1 << 16
_SLOW_SECONDS, _FAR_TOO_SLOW_SECONDS = 0.0005, 0.005
# A slow one alone may have had to wait for its processor.
_MAX_SLOW_IN_A_ROW = 3
# For so many reads a file is then read as any other: at one a second, ten minutes.
_REST = 600


class Quickness:
    """Whether what is read is quick, as far as it has shown."""

    def __init__(self) -> None:
        self._slow_in_a_row = 0
        self._rest = 0

    def is_trusted(self) -> bool:
        """Say it of the next read."""
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
    """Whether the kernel itself answers reads of an open file, and can be asked so.

    In containers, files below /proc may be those of a program that stands in for it.
    """
    return (
        _library() is not None
        and os.fstat(file).st_dev in _devices_of_the_kernels_own()
    )


@lru_cache(maxsize=1)
def is_proc_kernels_own() -> bool:
    """Say the same of what /proc says of processes."""
    try:
        file = os.open("/proc/self/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return is_kernels_own(file)
    finally:
        os.close(file)


def opened(path: str) -> int:
    """Open a file to be read.

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
    """Read up to 64 KiB at a place.

    Raises:
        OSError: They cannot be read.
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
    """Return the devices of mounts of these kinds, of lines of mountinfo (pure)."""
    found = set()
    for mount in mounts_in(mounts):
        major, _, minor = mount.device.partition(":")
        if mount.kind in kinds and major.isdigit() and minor.isdigit():
            found.add(os.makedev(int(major), int(minor)))
    return found


class _Own(threading.local):
    """A thread's own buffer: another may run before what was read has been copied."""

    buffer: Any = None  # an array, whose type ctypes makes


_own = _Own()


def _error(*path: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), *path)


# Any: the functions of a library have no types.
@lru_cache(maxsize=1)
def _library() -> Any:
    """The C library, called with the interpreter held; None where that serves nobody.

    Without a lock over the interpreter nobody waits for it. And with 32 bits, the size of
    a place in a file is different from system to system.
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
