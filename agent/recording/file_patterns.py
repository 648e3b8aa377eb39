"""Finds and names the files that match a pattern or lie in a folder."""

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
    """Yield files that match a pattern, or all in a folder, with their relative names.

    A relative pattern is resolved in the folder `below`, by default the working
    directory. `progress` is called for each name, because network drives can be slow.
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
        # Names are relative to the last folder without a wildcard.
        fixed = _WILDCARD.split(pattern, maxsplit=1)[0]
        folder = str(
            Path(below, fixed if fixed.endswith(os.sep) else Path(fixed).parent)
        )
        # Passed separately: the folder's own name may contain wildcard characters.
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
