"""Writes files atomically."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from seamark.commands.output import Refusal


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file, and rename it when the block succeeds.

    A temporary file left by a killed process is overwritten.
    """
    aside = path.with_name(f".{path.name}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(aside, flags, 0o666), "r+b") as file:
        _claim(file, aside)
        try:
            file.truncate()
            yield file
            file.flush()
            os.fsync(file.fileno())
            aside.replace(path)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise


def _claim(file: BinaryIO, aside: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The previous holder may just have renamed it.
        is_ours = os.path.samestat(os.fstat(file.fileno()), aside.stat())
    except OSError:
        is_ours = False
    if not is_ours:
        raise Refusal("in_use", f"Another process is writing {aside}; try again later.")
