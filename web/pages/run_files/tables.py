"""Stored tables of media: rows to show, sorted and filtered (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

ROWS_ON_PAGE = 25
MAX_ROWS, MAX_COLUMNS = 10_000, 200
CELL_CHARACTERS = 2_000
# Images in cells; browsers draw them and nothing else.
IMAGE = re.compile(r"data:image/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}")
NUMBERS_THAT_ARE_NAMED = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as text; `image` is the address of an image."""

    text: str
    number: float | None = None
    image: str = ""


@dataclass(frozen=True, slots=True)
class StoredTable:
    """Rows as long as `columns`; `count` includes rows that the agent left out."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    count: int


@dataclass(frozen=True, slots=True)
class TablePage:
    """Some rows, and the positions of the first and last among the matching ones."""

    rows: Sequence[tuple[Cell, ...]]
    first: int
    last: int
    count: int
    page: int
    pages: int


def read_table(content: bytes) -> StoredTable | None:
    """Return a stored table; None for any other bytes."""
    try:
        found = json.loads(content)
        columns = tuple(map(_text, found["columns"][:MAX_COLUMNS]))
        rows = tuple(_row(row, len(columns)) for row in found["rows"][:MAX_ROWS])
        count = int(found.get("count", 0))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    return StoredTable(columns, rows, max(count, len(rows)))


def page_of(
    table: StoredTable,
    *,
    text: str = "",
    sort: int | None = None,
    is_descending: bool = False,
    page: int = 0,
) -> TablePage:
    """Return a page of the rows with a text, ordered by a column.

    Numbers come before texts, and missing values last.
    """
    needle = text.casefold()
    rows = [
        row
        for row in table.rows
        if not needle or any(needle in cell.text.casefold() for cell in row)
    ]
    if sort is not None and sort < len(table.columns):
        rows = _sorted(rows, sort, is_descending=is_descending)
    pages = max(1, -(-len(rows) // ROWS_ON_PAGE))
    page = min(page, pages - 1)
    first = page * ROWS_ON_PAGE
    shown = rows[first : first + ROWS_ON_PAGE]
    return TablePage(
        shown, first + bool(shown), first + len(shown), len(rows), page, pages
    )


def _sorted(
    rows: list[tuple[Cell, ...]], column: int, *, is_descending: bool
) -> list[tuple[Cell, ...]]:
    def number(row: tuple[Cell, ...]) -> float:
        return row[column].number or 0.0

    def is_number(row: tuple[Cell, ...]) -> bool:
        found = row[column].number
        # NaN has no place among numbers.
        return found is not None and found == found  # noqa: PLR0124 - the test for NaN

    numbers = sorted(filter(is_number, rows), key=number, reverse=is_descending)
    rest = [row for row in rows if not is_number(row)]
    texts = [row for row in rest if row[column].text]
    texts.sort(key=lambda row: row[column].text.casefold(), reverse=is_descending)
    return [*numbers, *texts, *(row for row in rest if not row[column].text)]


# Any, here and below: JSON of anybody.
def _row(row: Any, width: int) -> tuple[Cell, ...]:
    cells = tuple(map(_cell, row[:width]))
    return cells + (Cell(""),) * (width - len(cells))


def _cell(value: Any) -> Cell:
    if isinstance(value, dict):
        image = value.get("image")
        if isinstance(image, str) and IMAGE.fullmatch(image):
            return Cell("", image=image)
        return Cell(_text(json.dumps(value)))
    if isinstance(value, bool) or value is None:
        return Cell("" if value is None else str(value).lower())
    if isinstance(value, (int, float)):
        return Cell(f"{value:.6g}" if isinstance(value, float) else str(value), value)
    text = _text(value)
    return Cell(text, NUMBERS_THAT_ARE_NAMED.get(text))


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    # JSON can name half of a surrogate pair.
    return text[:CELL_CHARACTERS].encode("utf-8", "replace").decode()
