"""The kind of each path of a run, which never changes."""

from __future__ import annotations

from enum import Enum

from seamark.errors import TooManyAttributes, TypeConflict

LARGEST_RUN = 100_000  # attributes


class Kind(Enum):
    """The kind of content of a path."""

    VALUE = "a value"
    SERIES = "a series of numbers"
    TEXT = "a series of text"
    HISTOGRAM = "a series of histograms"
    IMAGE = "a series of images"
    MEDIA = "a series of files"
    FILE = "a file"


class Kinds:
    """The paths that this process has used, with their kinds."""

    def __init__(self) -> None:
        self._known: dict[str, Kind] = {}

    @property
    def paths(self) -> list[str]:
        return list(self._known)

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def claim(self, path: str, kind: Kind) -> None:
        """Fix the kind of a path, or raise TypeConflict or TooManyAttributes."""
        known = self._known.get(path)
        if known is None:
            if len(self._known) >= LARGEST_RUN:
                raise TooManyAttributes(LARGEST_RUN)
            self._known[path] = kind
        elif known is not kind:
            raise TypeConflict(path, stored=known.value, requested=kind.value)
