"""Emulates a terminal's last lines to extract the lines to store (pure).

Progress bars move back and overwrite their output: to the start of the line, to lines
above, erasing text. So the last lines are kept as a terminal keeps them. A line that is
overwritten repeatedly is stored at intervals and at its end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

# Interval of storing a line that is being overwritten.
REDRAW_SECONDS = 10.0
# A line overwritten above others is stored once it is unchanged for this long.
QUIET_SECONDS = 2.0
# How many lines a program may move up; even large jobs have fewer nested bars.
ROWS = 64
LONGEST_LINE = 4_096  # characters
_LONGEST_ESCAPE = 256
_MAX_DIGITS = 5

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
_ESCAPE = re.compile(
    # cursor movement and colors
    r"\x1b\[(?P<args>[0-9:;<=>?]{0,64})[ -/]{0,4}(?P<final>[@-~])"
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[ -/]{1,4}[0-~]|\x1b[0-OQ-WYZ\\`-~]"  # character sets and others
)
_TOKEN = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f-\x9f]+|[\s\S]")


class Line(NamedTuple):
    """A line to store."""

    time: int  # nanoseconds since 1970
    text: str


@dataclass(slots=True)
class _Row:
    text: str = ""
    cut: int = 0  # characters beyond the longest line
    changed_at: int = 0  # nanoseconds since 1970
    stored: str | None = None
    # State at the last inspection: the text, whether the cursor was below it, and, in
    # seconds of the caller's clock, since when it is unchanged and since when it is not
    # stored.
    seen: str = ""
    is_left: bool = False
    quiet_since: float = 0.0
    waiting_since: float | None = None


class Screen:
    """The last lines of a terminal that shows one stream."""

    def __init__(self) -> None:
        self._rows = [_Row()]
        self._row = 0
        self._column = 0
        self._broken = ""  # an incomplete escape sequence
        self._out: list[Line] = []

    def write(self, text: str, time: int) -> None:
        """Show text written at `time`, in nanoseconds since 1970."""
        if not self._broken and not _CONTROL.search(text):
            self._write_plain(text, time)
            return
        text, self._broken = self._broken + text, ""
        position = 0
        while position < len(text):
            if text[position] == "\x1b":
                position = self._escape(text, position, time)
                continue
            token = _TOKEN.match(text, position)
            assert token is not None
            self._token(token[0], time)
            position = token.end()

    def take(self, now: float, *, is_end: bool = False) -> list[Line]:
        """Return the lines to store now; `now` is in seconds of a monotonic clock."""
        for index, row in enumerate(self._rows):
            is_above = index < self._row
            if row.text != row.seen:
                row.seen, row.quiet_since = row.text, now
                row.waiting_since = (
                    now if row.waiting_since is None else row.waiting_since
                )
            is_quiet = row.stored is None or now >= row.quiet_since + QUIET_SECONDS
            # A line that the cursor has left and that is unchanged since is finished.
            is_finished = is_above and row.is_left and is_quiet
            if is_end or is_finished or _is_due(row, now):
                self._store(row, now, is_line=is_above)
            row.is_left = is_above
        if is_end:
            self._rows, self._row, self._column = [_Row()], 0, 0
        out, self._out = self._out, []
        return out

    def _store(self, row: _Row, now: float, *, is_line: bool) -> None:
        """Output a changed row; an empty one only as an empty line."""
        text = row.text.rstrip()
        row.waiting_since = now
        if text == row.stored or not (text or (is_line and row.stored is None)):
            return
        more = f" … {row.cut:,} more characters" if row.cut else ""
        self._out.append(Line(row.changed_at, text + more))
        row.stored = text

    def _write_plain(self, text: str, time: int) -> None:
        first, *others = text.split("\n")
        if first:
            self._put(first, time)
        for part in others:
            self._new_line(time)
            if part:
                self._put(part, time)

    def _token(self, token: str, time: int) -> None:
        if token == "\n":
            self._new_line(time)
        elif token == "\r":
            self._column = 0
        elif token == "\b":
            self._column = max(0, self._column - 1)
        elif token == "\t" or not _CONTROL.match(token):
            self._put(token, time)

    def _put(self, text: str, time: int) -> None:
        row = self._rows[self._row]
        column = self._column
        room = max(0, LONGEST_LINE - column)
        row.cut += len(text) - len(text[:room])
        shown = text[:room]
        if column == len(row.text):
            row.text += shown
        else:
            row.text = (
                row.text[:column].ljust(column)
                + shown
                + row.text[column + len(shown) :]
            )
        row.changed_at = time
        self._column = min(column + len(text), LONGEST_LINE)

    def _new_line(self, time: int) -> None:
        row = self._rows[self._row]
        row.changed_at = row.changed_at or time
        self._move_down(1)
        self._column = 0

    def _move_down(self, count: int) -> None:
        self._row += count
        while self._row >= len(self._rows):
            self._rows.append(_Row())
        while len(self._rows) > ROWS:
            self._store(self._rows.pop(0), 0.0, is_line=True)
            self._row -= 1

    def _escape(self, text: str, position: int, time: int) -> int:
        """Apply the escape sequence at a position, and return its end."""
        match = _ESCAPE.match(text, position)
        if match is None:
            rest = len(text) - position
            if rest < _LONGEST_ESCAPE:
                self._broken = text[position:]
                return len(text)
            return position + 1  # not an escape sequence
        if match["final"]:
            self._control(match["final"], match["args"] or "", time)
        return match.end()

    def _control(self, final: str, args: str, time: int) -> None:
        first = args.partition(";")[0]
        number = int(first) if first.isdecimal() and len(first) <= _MAX_DIGITS else 0
        count = max(1, number)
        row = self._rows[self._row]
        if final in "AF":
            self._row = max(0, self._row - count)
        elif final in "BE":
            self._move_down(min(count, ROWS))
        elif final == "C":
            self._column = min(self._column + count, LONGEST_LINE)
        elif final == "D":
            self._column = max(0, self._column - count)
        elif final == "G":
            self._column = min(count - 1, LONGEST_LINE)
        elif final == "K":
            self._erase(row, number, time)
        elif final == "J" and number in (0, 2, 3):
            self._erase(row, 0, time)
            for below in self._rows[self._row + 1 :]:
                self._erase(below, 2, time)
        if final in "EF":
            self._column = 0

    def _erase(self, row: _Row, part: int, time: int) -> None:
        if part == 0:
            row.text = row.text[: self._column]
        elif part == 1:
            row.text = " " * min(self._column, len(row.text)) + row.text[self._column :]
        else:
            row.text = ""
        row.cut = 0
        row.changed_at = row.changed_at or time


def _is_due(row: _Row, now: float) -> bool:
    since = row.waiting_since
    return since is not None and now >= since + REDRAW_SECONDS
