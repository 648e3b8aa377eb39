"""The files that hold a spool's frames, and their order.

Neither their content nor their names are trusted. Missing and foreign files count as
empty; a file that cannot be read now raises OSError. Otherwise it would be skipped, and
deleted once later frames are delivered.
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
# Read from each segment to find its first frame.
_BEGINNING_BYTES = 64 * 1024


class Segments:
    """The segments of one spool, in its folder and in folders that it has left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._also: list[Path] = []  # folders with earlier frames
        self._firsts: dict[Path, int] = {}

    def go_on_in(self, folder: Path, also: list[Path]) -> None:
        """Use another folder from now on, and read earlier frames from other folders
        too.
        """
        self._folder, self._also = folder, also

    def holding(self, number: int) -> list[tuple[int, Path]]:
        """Return the segments that may hold frames from `number` on, in order, with
        names.
        """
        segments = self.ordered()
        # A segment ends where the next begins.
        ends = [begin for begin, _, _ in segments[1:]] + [2**63]
        return [
            (name, segment)
            for (_, name, segment), end in zip(segments, ends, strict=False)
            if end > number
        ]

    def ordered(self) -> list[tuple[int, int, Path]]:
        """Return all segments in order as (first frame, number in the name, path).

        The numbers are equal, unless the beginning is damaged or files were restored
        under wrong names; then the content decides.
        """
        named = list(self._all())
        # A number above any possible frame number is itself wrong.
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
        # Without its first frame, the name is trusted only if all other names are
        # right.
        if obstacle is not None and any(begin != name for begin, name, _ in found):
            raise obstacle
        return sorted(found)

    def read(self, segment: Path, offset: int, most: int = LARGEST_BYTES) -> bytes:
        """Return a segment's content from an offset on; b"" if it is gone."""
        try:
            return read_file(segment, offset, most)
        except OSError as error:
            if not self._is_gone(segment.parent, error):
                # For a caller that moves the file away.
                error.filename = error.filename or str(segment)
                raise
            return error.data if isinstance(error, CutOff) else b""

    def _is_gone(self, folder: Path, error: OSError) -> bool:
        """Return whether a read error in a folder is permanent."""
        # The disk of an abandoned folder is known to fail, and later frames wait.
        is_given_up = folder != self._folder and error.errno not in NO_MEANS
        return is_given_up or error.errno in NO_FILE

    def _first_intact(self, segment: Path) -> int:
        """Return the number of the first readable frame; 0 if there is none."""
        known = self._firsts.get(segment)
        if known is not None:
            return known
        beginning = self.read(segment, 0, _BEGINNING_BYTES)
        found = next((frame.number for frame in read_frames(beginning)), 0)
        # A file that is still being written may soon have more content.
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
            # The folder's content is not trusted: a link could lead anywhere.
            if match and entry.is_file(follow_symlinks=False):
                yield int(match[1]), Path(entry.path)
