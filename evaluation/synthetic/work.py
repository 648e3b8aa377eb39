"""Work that takes a job's time: real arithmetic, real reads, or emulated waits."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

_BLOCK = np.linspace(0.0, 1.0, 20_000)


def compute(cpu_seconds: float) -> None:
    """Do arithmetic until the thread has used so much CPU time, however long it takes."""
    until = time.thread_time() + cpu_seconds
    values = _BLOCK
    while time.thread_time() < until:
        values = np.sqrt(values * values + 1e-9)


def compute_in_python(cpu_seconds: float) -> None:
    """The same in plain Python, which holds the interpreter's lock."""
    until = time.thread_time() + cpu_seconds
    total = 0
    while time.thread_time() < until:
        for number in range(500):
            total += number * number


def write_files(folder: Path, files: int, file_bytes: int) -> list[str]:
    """Write files of random bytes, and flush them to the disk."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    paths = []
    for number in range(files):
        path = folder / f"{number}.bin"
        path.write_bytes(random.bytes(file_bytes))
        paths.append(str(path))
    os.sync()
    return paths


def read_file(path: str, *, is_cold: bool) -> int:
    """Read a file; cold: from the storage, since the page cache lets go of it before."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if is_cold:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        read = 0
        while part := os.read(descriptor, 1 << 20):
            read += len(part)
        return read
    finally:
        os.close(descriptor)


def write_checkpoint(folder: Path, size: int) -> None:
    """Write a file and wait until the disk has it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "checkpoint.bin").open("wb") as file:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())
