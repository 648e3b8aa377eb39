"""Joins the console output that Neptune's clients log to lines (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from seamark.capture.screen import Line, Screen

# The clients 2.x log each call of `write`, those of 3.x lines without their ends.
_PATH = re.compile(r"(?:monitoring/([^/]{1,100})|runtime)/(stdout|stderr)")
_END = re.compile("[\r\n]")
_NANOSECONDS = 1_000  # of a microsecond
_SECOND = 1_000_000  # microseconds


class Stream(NamedTuple):
    """A stream of a process."""

    process: str  # the client's id of it; "" if the run has only one
    name: str


def stream_of(path: str) -> Stream | None:
    """Return the stream that a series of texts has; None for other series."""
    found = _PATH.fullmatch(path)
    return None if found is None else Stream(found[1] or "", found[2])


class Lines:
    """The lines of one stream."""

    def __init__(self, stream: Stream) -> None:
        # Whether the texts have the ends of lines; None before any has one.
        self._has_ends = None if stream.process else False
        self._screen = Screen()
        self._last = 0  # microseconds since 1970
        self._taken_at = 0

    def add(self, texts: Sequence[tuple[int, str]]) -> Iterator[Line]:
        """Add texts with their times in microseconds; yield completed lines."""
        if self._has_ends is None and any(_END.search(text) for _, text in texts):
            self._has_ends = True
        for moment, text in texts:
            shown = text if self._has_ends else text.removesuffix("\n") + "\n"
            self._screen.write(shown, moment * _NANOSECONDS)
            self._last = moment
            # More often is not needed: only progress bars depend on it.
            if moment >= self._taken_at + _SECOND:
                self._taken_at = moment
                yield from self._take(is_end=False)

    def finish(self) -> Iterator[Line]:
        """Yield the remaining lines."""
        yield from self._take(is_end=True)

    def _take(self, *, is_end: bool) -> list[Line]:
        return self._screen.take(self._last / _SECOND, is_end=is_end)
