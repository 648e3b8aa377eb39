"""Tables of a series: rows of numbers, texts and images, as JSON."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from seamark.errors import AgentError, UnsupportedValue
from seamark.recording.duck_types import can, is_array, is_picture
from seamark.recording.file_contents import File, to_content
from seamark.recording.media.images import Encoder
from seamark.recording.media.media import Media

TABLE = "application/vnd.seamark.table+json"
MAX_ROWS = 10_000
MAX_COLUMNS = 200
MAX_IMAGES = 500
LONGEST_CELL = 2_000  # characters
# The memory of a value while it waits, roughly.
_CELL_BYTES = 64


class Table(Media):
    """A table to append to a series: `run["predictions"].append(agent.Table(rows))`.

    Args:
        data: A data frame of pandas or Polars, a table of PyArrow, a list of
            dictionaries, or rows with `columns`. Cells are numbers, texts or images.
            Up to 10,000 rows are stored.
        columns: The names of the columns; by default those of the data.
        caption: A text below the table.
    """

    __slots__ = ("columns",)

    def __init__(
        self,
        data: object,
        columns: Sequence[str] | None = None,
        *,
        caption: str = "",
        name: str | None = None,
    ) -> None:
        super().__init__(data, caption=caption, name=name, media_type=TABLE)
        self.columns = columns

    def made(self) -> tuple[str, Encoder]:
        columns, given, count = _read(self)
        if not columns or len(columns) > MAX_COLUMNS:
            raise UnsupportedValue(self, f"has 1 to {MAX_COLUMNS} columns")
        cells = _Cells()
        rows = [[cells.plain(cell) for cell in row] for row in given]
        if any(len(row) != len(columns) for row in rows):
            raise UnsupportedValue(self, f"has rows of {len(columns)} cells")
        buffered_bytes = _CELL_BYTES * len(columns) * len(rows) + cells.buffered_bytes
        cut = f"only the first {MAX_ROWS:,} of {count:,} rows are stored"
        note = cut if count > len(rows) else ""
        return TABLE, Encoder(
            partial(_encoded, columns, rows, count), buffered_bytes, note
        )


class _Found(NamedTuple):
    columns: list[str]
    rows: Sequence[Sequence[Any]]  # at most MAX_ROWS
    total: int  # rows, also those beyond MAX_ROWS


class _Cells:
    """Converts cells, and counts the memory that they need."""

    def __init__(self) -> None:
        self.buffered_bytes = 0
        self._images = 0

    # Any, here and below: foreign types are known only at run time.
    def plain(self, cell: Any) -> object:
        """Return a JSON value, or the content of an image."""
        if cell is None or isinstance(cell, (bool, int)):
            return cell
        if isinstance(cell, float):
            return float(cell) if math.isfinite(cell) else _name_of(cell)
        if isinstance(cell, str):
            return self._text(cell)
        is_pixels = is_array(cell) and len(cell.shape) > 1
        if is_pixels or isinstance(cell, File) or is_picture(cell):
            return self._image(cell)
        if can(cell, "item") and getattr(cell, "shape", None) == ():
            return self.plain(cell.item())
        return self._text(str(cell))

    def _text(self, text: str) -> str:
        cut = str.__str__(text)[:LONGEST_CELL]
        self.buffered_bytes += len(cut)
        return cut

    def _image(self, value: object) -> object:
        self._images += 1
        if self._images > MAX_IMAGES:
            return f"(image; a table has up to {MAX_IMAGES})"
        content = to_content(value, fallback="cell", name=None, media_type=None)
        if not content.media_type.startswith("image/") or content.make is None:
            content.close()
            return "(no image)"
        self.buffered_bytes += content.buffered_bytes
        return content


def _read(table: Table) -> _Found:
    try:
        return _rows_of(table.content, table.columns)
    except AgentError:
        raise
    except Exception as error:
        # The data's own code ran.
        reason = f"cannot be read ({type(error).__name__})"
        raise UnsupportedValue(table.content, reason) from error


def _rows_of(data: Any, columns: Sequence[str] | None) -> _Found:
    if can(data, "itertuples"):  # pandas
        names, rows = data.columns, data.head(MAX_ROWS).itertuples(index=False)
    elif hasattr(data, "column_names") and can(data, "slice"):  # PyArrow
        names = data.column_names
        some = data.slice(0, MAX_ROWS)
        rows = zip(*(column.to_pylist() for column in some.columns), strict=True)
    elif hasattr(data, "columns") and can(data, "rows"):  # Polars
        names, rows = data.columns, data.head(MAX_ROWS).rows()
    else:
        return _rows_of_list(data, columns)
    listed = [tuple(row) for row in rows]
    return _Found(_names(names if columns is None else columns), listed, len(data))


def _rows_of_list(data: Any, columns: Sequence[str] | None) -> _Found:
    some = list(islice(iter(data), MAX_ROWS))
    count = len(data) if hasattr(data, "__len__") else len(some)
    if some and all(isinstance(row, Mapping) for row in some):
        keys = list(dict.fromkeys(key for row in some for key in row))
        shown = keys if columns is None else list(columns)
        return _Found(
            _names(shown), [[row.get(key) for key in shown] for row in some], count
        )
    if columns is None:
        raise UnsupportedValue(
            data, "needs columns=[…], or is a data frame or a list of dictionaries"
        )
    return _Found(_names(columns), [list(row) for row in some], count)


def _names(columns: Iterable[object]) -> list[str]:
    return [str(name)[:LONGEST_CELL] for name in columns]


def _name_of(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def _encoded(columns: list[str], rows: list[list[object]], count: int) -> bytes:
    found = {
        "columns": columns,
        "rows": [[_cell(cell) for cell in row] for row in rows],
        "count": count,
    }
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


# Any: a JSON value, or the content of an image.
def _cell(cell: Any) -> object:
    if not can(cell, "data", "close"):
        return cell
    data = base64.b64encode(cell.data()).decode()
    return {"image": f"data:{cell.media_type};base64,{data}"}
