"""File names that are safe on every file system (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

# Characters that some system forbids or interprets, and text-direction marks, which can
# disguise a file extension.
BAD = re.compile(
    r"[\x00-\x1f\x7f<>:\"/\\|?*\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
LONGEST = 200  # characters of a part; file systems allow 255 bytes or units
FALLBACK = "file"


def safe_name(name: str) -> str:
    """Return a single safe path component."""
    cleaned = BAD.sub("_", name)[:LONGEST].rstrip(". ")
    while len(cleaned.encode()) > LONGEST:
        cleaned = cleaned[:-1]
    if RESERVED.fullmatch(cleaned):
        cleaned = f"_{cleaned}"
    return cleaned or FALLBACK


def safe_path(path: str) -> str:
    """Return a relative path of safe components."""
    return "/".join(safe_name(part) for part in path.split("/") if part) or FALLBACK


def with_ending(path: str, name: str) -> str:
    """Return the path with the extension of `name`, if it has none.

    `model/best` of `best.pt` becomes `model/best.pt`.
    """
    ending = re.search(r"\.[A-Za-z0-9]{1,10}$", name)
    last = path.rsplit("/", 1)[-1]
    return path if ending is None or "." in last else path + ending[0]


class Distinct:
    """Makes paths distinct that a file system cannot hold next to each other."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def add(self, path: str) -> str:
        for candidate in _variants(path):
            folded = candidate.casefold()
            parents = {*_parents(folded)}
            if folded in self._files or folded in self._folders:
                continue
            if parents & self._files:
                continue  # a file exists where a folder is needed
            self._files.add(folded)
            self._folders |= parents
            return candidate
        raise AssertionError


def attachment(name: str) -> str:
    """Return the Content-Disposition header for a download."""
    safe = safe_name(name)
    plain = safe.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe, safe='')}"


def _variants(path: str) -> Iterator[str]:
    yield path
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    start = f"{folder}/" if folder else ""
    number = 2
    while True:
        yield (
            f"{start}{stem} ({number}).{ending}"
            if dot and stem
            else f"{path} ({number})"
        )
        # Another folder, if a file is in the way of this one.
        if folder:
            yield f"{folder} ({number})/{name}"
        number += 1


def _parents(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[:count])
