"""Reads of the kernel's own files that keep the interpreter for themselves.

Python gives the interpreter away around each system call. A training that computes in
Python takes it, and goes on until it is asked to hand it back: two changes of thread for
a read that takes some microseconds, and twenty of them each second. These reads give
nothing away. So they are for files alone that the kernel answers out of its memory, and
for as long as each of them is quick.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

# File systems of which nothing waits for a disk, a network or a program.
_KERNELS_OWN = ("proc", "cgroup", "cgroup2")
_SLOW_SECONDS = 0.0005
# After so many slow reads of a file it is read as any other. One may be slow because
# the system let another program have the processor.
_MOST_SLOW_READS = 3


class Quickness:
    """Whether what is read was quick so far."""

    def __init__(self) -> None:
        self._slow_reads = 0

    def __bool__(self) -> bool:
        return self._slow_reads < _MOST_SLOW_READS

    def timed(self, read: Callable[[], bytes]) -> bytes:
        began = perf_counter()
        try:
            return read()
        finally:
            self._slow_reads += perf_counter() - began > _SLOW_SECONDS


def is_kernels_own(file: int) -> bool:
    """Whether the kernel answers reads of an open file, and these calls can be made.

    In containers, files below /proc may be those of a program that stands in for it.
    """
    return (
        _library() is not None
        and os.fstat(file).st_dev in _devices_of_the_kernels_own()
    )


@lru_cache(maxsize=1)
def is_proc_kernels_own() -> bool:
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
    flags = os.O_RDONLY | os.O_CLOEXEC
    file: int = _library().open(os.fsencode(path), flags)
    # The other way says what is wrong, or finds that nothing is any more.
    return os.open(path, flags) if file < 0 else file


def closed(file: int) -> None:
    _library().close(file)


def read_at(file: int, most_bytes: int, place: int) -> bytes:
    """Read up to so many bytes at a place.

    Raises:
        OSError: They cannot be read.
    """
    import ctypes  # noqa: PLC0415 - not before it is needed

    buffer = ctypes.create_string_buffer(most_bytes)
    size: int = _library().pread(file, buffer, most_bytes, place)
    return (
        os.pread(file, most_bytes, place)
        if size < 0
        else ctypes.string_at(buffer, size)
    )


# Any: the functions of a library have no types.
@lru_cache(maxsize=1)
def _library() -> Any:
    """The C library, called with the interpreter held; None where there is none."""
    try:
        import ctypes  # noqa: PLC0415 - in the thread that samples

        library = ctypes.PyDLL(None)
        library.open.argtypes = (ctypes.c_char_p, ctypes.c_int)
        library.close.argtypes = (ctypes.c_int,)
        library.pread.argtypes = (
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_long,
        )
        library.pread.restype = ctypes.c_ssize_t
    except (ImportError, OSError, AttributeError, TypeError):
        return None
    return library


@lru_cache(maxsize=1)
def _devices_of_the_kernels_own() -> frozenset[int]:
    try:
        text = Path("/proc/self/mountinfo").read_text("utf-8", "replace")
    except OSError:
        return frozenset()
    return frozenset(devices_of(text, _KERNELS_OWN))


def devices_of(text: str, kinds: tuple[str, ...]) -> set[int]:
    """Return the devices of mounts of these kinds, of lines of mountinfo (pure)."""
    found = set()
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.partition(" ")[0]
        if kind in kinds and len(fields) > 2:  # noqa: PLR2004 - proc(5)
            major, _, minor = fields[2].partition(":")
            if major.isdigit() and minor.isdigit():
                found.add(os.makedev(int(major), int(minor)))
    return found
