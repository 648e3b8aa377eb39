"""A file that has its name only once it is complete."""

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
    """Open a file aside, and give it its name when the block has ended well.

    What a killed process left aside is written over by the next one.
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
        # Whoever had it until now may just have given it its name.
        is_ours = os.path.samestat(os.fstat(file.fileno()), aside.stat())
    except OSError:
        is_ours = False
    if not is_ours:
        raise Refusal("in_use", f"Another process is writing {aside}; try again later.")
