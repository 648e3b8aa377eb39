"""Prints command output: lines, tables, colors on terminals, JSON."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest

from seamark.errors import AgentError

MISUSED = 2
_SMALLEST_WIDTH = 20
# Minimum width of a table column on a terminal that is too narrow.
_NARROWEST = 6
_GAP = "  "
# Maximum padding without a terminal: one long text would pad all other lines.
_WIDEST_PADDED = 40
# A spreadsheet treats a cell that begins with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_COLOURS = {"red": 31, "green": 32, "yellow": 33, "bold": 1, "dim": 2}


class Refusal(AgentError):
    """A failed command, with its exit code."""

    def __init__(self, code: str, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.exit_code = exit_code


def say(line: str = "") -> None:
    """Print a line of output."""
    sys.stdout.write(f"{line}\n")


def tell(line: str) -> None:
    """Print a message to standard error."""
    # Names and server messages are escaped for the terminal.
    shown = "\n".join(map(clean, line.split("\n")))
    sys.stderr.write(f"seamark: {shown}\n")
    sys.stderr.flush()


def print_json_rows(content: object) -> None:
    """Print one JSON value on one line."""
    # NaN and infinities are strings already; non-ASCII characters are escaped, because
    # the reader may expect any encoding.
    say(json.dumps(content, allow_nan=False))


def print_csv(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as CSV."""
    # Not escaped for programs.
    shown = clean if sys.stdout.isatty() else str
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(map(shown, heads))
    for row in rows:
        table.writerow([shown(no_formula(cell)) for cell in row])


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, fitted to a terminal by cutting long cells.

    Without a terminal nothing is cut: a long cell shifts those after it.
    """
    cells = [[clean(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    if sys.stdout.isatty():
        widths = fitted(widths, terminal_width())
        cells = [[*map(cut, row, widths)] for row in cells]
    else:
        widths = [min(width, _WIDEST_PADDED) for width in widths]
    for number, row in enumerate(cells):
        line = _GAP.join(map(padded, row, widths)).rstrip()
        say(line if number else painted(line, "bold"))


def fitted(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that fit with their gaps, by reducing the widest ones."""
    found = list(widths)
    room -= len(_GAP) * (len(found) - 1)
    while sum(found) > room and max(found) > _NARROWEST:
        widest = max(found)
        next_one = max([w for w in found if w < widest], default=0)
        count = found.count(widest)
        too_much = sum(found) - room
        less = min(widest - max(next_one, _NARROWEST), -(-too_much // count))
        found = [w - less if w == widest else w for w in found]
    return found


def terminal_width() -> int:
    return max(shutil.get_terminal_size().columns, _SMALLEST_WIDTH)


def clean(text: str) -> str:
    """Return text with control characters escaped, safe for a terminal."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def time_text(moment: datetime) -> str:
    """Return a time in one fixed format, in microseconds."""
    return moment.isoformat(timespec="microseconds")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as `2 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def cut(text: str, width: int) -> str:
    """Cut a text to a width in terminal columns."""
    if width_of(text) <= width:
        return text
    kept = ""
    for character in text:
        if width_of(kept) + width_of(character) > width - 1:
            break
        kept += character
    return f"{kept}…"


def padded(text: str, width: int) -> str:
    """Pad a text to a width in terminal columns."""
    return f"{text}{' ' * (width - width_of(text))}"


def width_of(text: str) -> int:
    """Return the width of a text in terminal columns."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def painted(text: str, colour: str) -> str:
    """Color a text if standard output supports it."""
    if not sys.stdout.isatty():
        return text
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def aligned(rows: Sequence[tuple[str, str]], indent: str = "  ") -> list[str]:
    """Return lines of words and their meanings, wrapped to the terminal."""
    widest = max(len(word) for word, _ in rows)
    room = terminal_width() - len(indent) - widest - len(_GAP)
    lines = []
    for word, meaning in rows:
        parts = broken(meaning, max(room, _SMALLEST_WIDTH))
        for first, part in zip_longest([word], parts, fillvalue=""):
            lines.append(f"{indent}{first:<{widest}}{_GAP}{part}".rstrip())
    return lines


def broken(text: str, width: int) -> list[str]:
    """Wrap a text into lines; longer words stay whole."""
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(lines[-1]) + 1 + width_of(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def no_formula(cell: str) -> str:
    """Return a CSV cell that spreadsheets do not evaluate; adds an apostrophe if
    needed.
    """
    if not cell.startswith(_FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
