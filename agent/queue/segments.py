"""The files that a spool's frames lie in: which there are, and in which order.

Their bytes are not trusted, and neither are their names. What is gone, or no file of the
agent's own, holds nothing; where something is there and cannot be read now, OSError is
raised. Taken for nothing, it would be passed over, and deleted once what follows it is
delivered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from seamark.queue.frames import read_frames
from seamark.queue.own_files import LARGEST_BYTES, NO_FILE, NO_MEANS, CutOff, read_file
from seamark.queue.spool import SEGMENT_SUFFIX

MAX_REPLACED = 100_000  # frames
_NAME = re.compile(rf"(\d{{20}}){re.escape(SEGMENT_SUFFIX)}")
# Of a segment, to see with which frame it begins.
_BEGINNING_BYTES = 64 * 1024


class Segments:
    """Those of one spool, in its folder and in others that it has left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._also: list[Path] = []  # folders with earlier frames
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
        most = max((name for name, _ in named), default=0) + MAX_REPLACED
        found: list[tuple[int, int, Path]] = []
        obstacle: OSError | None = None
        for name, segment in named:
            begin = name
            try:
                begin = self._first_intact(segment) or name
            except OSError as error:
                obstacle = error
            found.append((begin if begin <= most else name, name, segment))
        # A name is believed for want of anything better, where all others are true.
        if obstacle is not None and any(begin != name for begin, name, _ in found):
            raise obstacle
        return sorted(found)

    def read(self, segment: Path, offset: int, most: int = LARGEST_BYTES) -> bytes:
        """Return what lies in a segment from an offset on; nothing if it is gone."""
        try:
            return read_file(segment, offset, most)
        except OSError as error:
            if not self._is_gone(segment.parent, error):
                # Who reads of it may want to move it away.
                error.filename = error.filename or str(segment)
                raise
            return error.data if isinstance(error, CutOff) else b""

    def _is_gone(self, folder: Path, error: OSError) -> bool:
        """Whether what lies in a folder, and cannot be read, never will be."""
        # The disk of a folder that was left is known to fail, and what follows waits.
        is_given_up = folder != self._folder and error.errno not in NO_MEANS
        return is_given_up or error.errno in NO_FILE

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
        for folder in (self._folder, *self._also):
            yield from self._in(folder)

    def _in(self, folder: Path) -> Iterator[tuple[int, Path]]:
        try:
            yield from _segments_in(folder)
        except OSError as error:
            if not self._is_gone(folder, error):
                raise


def _segments_in(folder: Path) -> Iterator[tuple[int, Path]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            # Links could lead anywhere; this folder is ours, its content is not trusted.
            if match and entry.is_file(follow_symlinks=False):
                yield int(match[1]), Path(entry.path)
