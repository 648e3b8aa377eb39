"""A disk that fails, for code that reaches it by `os`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


class FailingDisk:
    """Replaces `os`: operations below a folder fail while `is_broken`."""

    def __init__(self, below: Path, error: int, *, fails_reading: bool) -> None:
        self._below = str(below)
        self._error = error
        self._fails_reading = fails_reading
        self.is_broken = False
        self.refused = 0
        self.fails_at_most = 2**63  # times
        # Called before each open, for example to simulate a hanging file system.
        self.before_opening: Callable[[], object] = lambda: None

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        is_written = flags & (os.O_WRONLY | os.O_RDWR)
        if str(path).startswith(self._below):
            self.before_opening()
            if is_written or self._fails_reading:
                self._fail()
        return os.open(path, flags, mode)

    def scandir(self, path: Path) -> Any:
        if str(path).startswith(self._below) and self._fails_reading:
            self._fail()
        return os.scandir(path)

    def write(self, file: int, data: bytes) -> int:
        path = Path(f"/proc/self/fd/{file}").readlink()
        if str(path).startswith(self._below):
            self._fail()
        return os.write(file, data)

    def _fail(self) -> None:
        if self.is_broken and self.refused < self.fails_at_most:
            self.refused += 1
            raise OSError(self._error, os.strerror(self._error))


def broken_disk(monkeypatch, module, below, error):
    """Make a module's reads below a path fail until `is_broken` is reset."""
    disk = FailingDisk(below, error, fails_reading=True)
    disk.is_broken = True
    monkeypatch.setattr(module, "os", disk)
    return disk
