"""Finds the files that a pattern or a folder stands for, and names them."""

from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Iterator
from pathlib import Path

from agent.contents import printable

_WILDCARD = re.compile(r"[*?\[]")


def matching(pattern: str) -> Iterator[tuple[str, Path]]:
    """Yield files that a pattern names, or all in a folder, with their relative names."""
    if Path(pattern).is_dir():
        folder = pattern
        found: Iterator[str] = (
            str(Path(place, name))
            for place, _, names in os.walk(folder)
            for name in sorted(names)
        )
    else:
        # Names are those below the last folder without a wildcard.
        fixed = _WILDCARD.split(pattern, maxsplit=1)[0]
        folder = str(Path(fixed).parent) if not fixed.endswith(os.sep) else fixed
        found = iter(sorted(glob.glob(pattern, recursive=True)))  # noqa: PTH207 - as a text
    for name in found:
        path = Path(name)
        with contextlib.suppress(OSError):
            if path.is_file():
                yield os.path.relpath(name, folder or "."), path


def printable_path(name: str) -> str:
    """Return the relative name of a file as a part of a path in the run."""
    return "/".join(printable(part) for part in Path(name).parts)
