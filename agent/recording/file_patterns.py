"""Finds the files that a pattern or a folder stands for, and names them."""

from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from seamark.recording.file_contents import printable

_WILDCARD = re.compile(r"[*?\[]")


def matching(
    pattern: str, below: str = "", *, progress: Callable[[], None] = lambda: None
) -> Iterator[tuple[str, Path]]:
    """Yield files that a pattern names, or all in a folder, with their relative names.

    A relative pattern is one `below` a folder, by default the working directory.
    `progress` is called for each name: a large network drive takes its time.
    """
    whole = str(Path(below, pattern))
    if Path(whole).is_dir():
        folder = whole
        found: Iterator[str] = (
            str(Path(place, name))
            for place, _, names in os.walk(folder)
            for name in sorted(names)
        )
    else:
        # Names are those below the last folder without a wildcard.
        fixed = _WILDCARD.split(pattern, maxsplit=1)[0]
        folder = str(
            Path(below, fixed if fixed.endswith(os.sep) else Path(fixed).parent)
        )
        # Apart from the folder, whose own name may have wildcards in it.
        root = below or None
        names = glob.iglob(pattern, root_dir=root, recursive=True)  # noqa: PTH207 - as a text
        found = iter(sorted(str(Path(below, name)) for name in _each(names, progress)))
    for name in _each(found, progress):
        path = Path(name)
        with contextlib.suppress(OSError):
            if path.is_file():
                yield os.path.relpath(name, folder or "."), path


def _each(names: Iterable[str], progress: Callable[[], None]) -> Iterator[str]:
    for name in names:
        progress()
        yield name


def printable_path(name: str) -> str:
    """Return the relative name of a file as a part of a path in the run."""
    return "/".join(printable(part) for part in Path(name).parts)
