"""What commands print: lines, tables that fit, colours where they are seen, JSON."""

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
# Of a column of a table, once there is not room for all.
_NARROWEST = 6
_GAP = "  "
# Of a column where there is no terminal: one long text would pad all other lines.
_WIDEST_PADDED = 40
# A spreadsheet takes a cell that begins so for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_COLOURS = {"red": 31, "green": 32, "yellow": 33, "bold": 1, "dim": 2}


class Refusal(AgentError):
    """A command cannot do what was asked; the exit code is part of it."""

    def __init__(self, code: str, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.exit_code = exit_code


def say(line: str = "") -> None:
    """Print a line of what was asked for."""
    sys.stdout.write(f"{line}\n")


def tell(line: str) -> None:
    """Print a line beside it, as standard output is for what was asked for."""
    # Of names, and of what a server says, nothing reaches the terminal as it is.
    shown = "\n".join(map(clean, line.split("\n")))
    sys.stderr.write(f"seamark: {shown}\n")
    sys.stderr.flush()


def say_json(content: object) -> None:
    """Print one JSON value, on one line."""
    # Numbers that JSON does not have are texts already; others than ASCII characters
    # are escaped, as whoever reads this may expect any encoding.
    say(json.dumps(content, allow_nan=False))


def say_csv(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table for programs and spreadsheets."""
    # A program gets names as they are.
    shown = clean if sys.stdout.isatty() else str
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(map(shown, heads))
    for row in rows:
        table.writerow([shown(no_formula(cell)) for cell in row])


def say_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; on a terminal no wider than that, with the starts of long cells.

    Elsewhere nothing is cut off: a cell that is too long pushes those after it aside.
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
    """Return widths whose sum leaves room for the gaps, taken from the widest."""
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
    """Return text that cannot do anything to a terminal: names come from anywhere."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def time_text(moment: datetime) -> str:
    """Return a time in the one shape that a column of them needs to be read."""
    return moment.isoformat(timespec="microseconds")


def counted(number: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def cut(text: str, width: int) -> str:
    """Return the beginning of a text that is too long for so many columns."""
    if width_of(text) <= width:
        return text
    kept = ""
    for character in text:
        if width_of(kept) + width_of(character) > width - 1:
            break
        kept += character
    return f"{kept}…"


def padded(text: str, width: int) -> str:
    """Return a text that takes at least so many columns."""
    return f"{text}{' ' * (width - width_of(text))}"


def width_of(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def painted(text: str, colour: str) -> str:
    """Return the text with a colour, if standard output is where it can be seen."""
    if not sys.stdout.isatty():
        return text
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def aligned(rows: Sequence[tuple[str, str]], indent: str = "  ") -> list[str]:
    """Return lines of a word and what it means, broken to fit the terminal."""
    widest = max(len(word) for word, _ in rows)
    room = terminal_width() - len(indent) - widest - len(_GAP)
    lines = []
    for word, meaning in rows:
        parts = broken(meaning, max(room, _SMALLEST_WIDTH))
        for first, part in zip_longest([word], parts, fillvalue=""):
            lines.append(f"{indent}{first:<{widest}}{_GAP}{part}".rstrip())
    return lines


def broken(text: str, width: int) -> list[str]:
    """Break a text between words into lines; a word that is too long stays whole."""
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(lines[-1]) + 1 + width_of(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def no_formula(cell: str) -> str:
    """Return a cell that no spreadsheet computes; an apostrophe is put before it."""
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
