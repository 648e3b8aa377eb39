"""The files that a spool's frames lie in: which there are, and in which order.

Their bytes are not trusted, and neither are their names.
"""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator
from pathlib import Path

from agent.frames import read_frames
from agent.own_files import LARGEST_BYTES, read_file
from agent.spool import SEGMENT_SUFFIX

MOST_REPLACED = 100_000  # frames
_NAME = re.compile(rf"(\d{{20}}){re.escape(SEGMENT_SUFFIX)}")
_NO_FILE = (errno.ENOENT, errno.ELOOP, errno.EINVAL)
# Of a segment, to see with which frame it begins.
_BEGINNING_BYTES = 64 * 1024


class Segments:
    """Those of one spool, in its folder and in others that it has left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._also: list[Path] = []  # folders with earlier frames
        # Whether a file of frames is there and its disk does not give it back.
        self.is_unreadable = False
        self._firsts: dict[Path, int] = {}

    def go_on_in(self, folder: Path, also: list[Path]) -> None:
        """Look there from now on, and for earlier frames in other folders, too."""
        self._folder, self._also = folder, also

    def holding(self, number: int) -> list[tuple[int, Path]]:
        """The segments that may hold frames from `number` on, in order, by their names."""
        segments = self.ordered()
        # A segment ends where the next begins.
        ends = [begin for begin, _, _ in segments[1:]] + [2**63]
        return [
            (name, segment)
            for (_, name, segment), end in zip(segments, ends, strict=False)
            if end > number
        ]

    def ordered(self) -> list[tuple[int, int, Path]]:
        """Every segment in order: where it begins, the number in its name, its path.

        Both are the same, unless its beginning is damaged, or files were restored under
        each other's names: then what lies in it says where it belongs.
        """
        named = list(self._all())
        # A number that no frame of this spool can have is false itself.
        most = max((name for name, _ in named), default=0) + MOST_REPLACED
        found = []
        for name, segment in named:
            begin = self._first_intact(segment) or name
            found.append((begin if begin <= most else name, name, segment))
        return sorted(found)

    def read(self, segment: Path, offset: int, most: int = LARGEST_BYTES) -> bytes:
        """Return what lies in a segment from an offset on."""
        try:
            return read_file(segment, offset, most)
        except OSError as error:
            # What is no file of ours at all, or gone, is no fault of the disk.
            self.is_unreadable |= error.errno not in _NO_FILE
            return b""

    def _first_intact(self, segment: Path) -> int:
        """Return the number of the first frame that can be read; 0 if there is none."""
        known = self._firsts.get(segment)
        if known is not None:
            return known
        beginning = self.read(segment, 0, _BEGINNING_BYTES)
        found = next((frame.number for frame in read_frames(beginning)), 0)
        # Of a file that is still written, there may soon be more to read.
        if found or len(beginning) == _BEGINNING_BYTES:
            self._firsts[segment] = found
        return found

    def _all(self) -> Iterator[tuple[int, Path]]:
        entries = []
        for folder in (self._folder, *self._also):
            with contextlib.suppress(OSError):
                entries += [*folder.iterdir()]
        for segment in entries:
            match = _NAME.fullmatch(segment.name)
            # Links could lead anywhere; this folder is ours, its content is not trusted.
            if match and segment.is_file() and not segment.is_symlink():
                yield int(match[1]), segment
