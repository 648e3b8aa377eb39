"""Tables of points as CSV or Arrow, one part at a time (pure).

The output grows with its parts, so it can be sent while it is read.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from io import BytesIO, StringIO
from typing import Any, Protocol

import nanoarrow as na
import numpy as np
import orjson
from nanoarrow.ipc import StreamWriter
from numpy.typing import NDArray

# Spreadsheets treat such a cell as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
INCOMPLETE = "incomplete: ask again"
MICROSECONDS = np.dtype("<M8[us]")

Array = NDArray[Any]
# A text applies to every row; arrays have one item per row.
Cells = str | Array


class Table(Protocol):
    """An incremental table: `add` and `end` return the bytes to send."""

    def add(self, part: Mapping[str, Cells]) -> bytes: ...

    def end(self, *, is_complete: bool) -> bytes:
        """Finish; make an incomplete table recognizable."""


class CsvTable:
    """Numbers that spreadsheets lack are the texts NaN, Infinity and -Infinity."""

    def __init__(self, columns: Mapping[str, type[Any]]) -> None:
        self._columns = list(columns)
        self._head = _row([*map(_cell, columns)])

    def add(self, part: Mapping[str, Cells]) -> bytes:
        length = _length(part)
        cells = [_texts(part[name], length) for name in self._columns]
        # csv.writer would take four times as long for numbers that need no quotes.
        return self._taken() + b"".join(map(_row, zip(*cells, strict=True)))

    def end(self, *, is_complete: bool) -> bytes:
        if is_complete:
            return self._taken()
        return self._taken() + _row([_cell(INCOMPLETE)] * len(self._columns))

    def _taken(self) -> bytes:
        head, self._head = self._head, b""
        return head


class ArrowTable:
    """The Arrow IPC stream: pyarrow, pandas, polars and DuckDB read it as it comes."""

    def __init__(self, columns: Mapping[str, type[Any]]) -> None:
        self._types = {name: _arrow_type(kind) for name, kind in columns.items()}
        self._schema = na.struct(self._types, nullable=False)
        self._sink = BytesIO()
        self._writer = StreamWriter.from_writable(self._sink)
        # The schema precedes the first rows, and there may be none.
        empty: dict[str, Cells] = {
            name: "" if kind is str else np.empty(0, "<i8")
            for name, kind in columns.items()
        }
        self._write(empty, 0)

    def add(self, part: Mapping[str, Cells]) -> bytes:
        self._write(part, _length(part))
        return self._taken()

    def end(self, *, is_complete: bool) -> bytes:
        self._writer.close()
        # Instead of the end marker, bytes that every reader rejects.
        return self._taken() if is_complete else INCOMPLETE.encode()

    def _write(self, part: Mapping[str, Cells], length: int) -> None:
        columns = [
            _arrow_column(kind, part[name], length)
            for name, kind in self._types.items()
        ]
        self._writer.write_array(
            na.c_array_from_buffers(
                self._schema, length, [None], null_count=0, children=columns
            )
        )

    def _taken(self) -> bytes:
        taken = self._sink.getvalue()
        self._sink.seek(0)
        self._sink.truncate()
        return taken


def _length(part: Mapping[str, Cells]) -> int:
    return next(len(cells) for cells in part.values() if not isinstance(cells, str))


def _row(cells: Sequence[bytes]) -> bytes:
    return b",".join(cells) + b"\r\n"


def _cell(text: str) -> bytes:
    """Return a cell that spreadsheets do not execute; paths are untrusted."""
    row = StringIO()
    csv.writer(row).writerow([f"'{text}" if text.startswith(FORMULA_STARTS) else text])
    return row.getvalue().removesuffix("\r\n").encode()


def _texts(cells: Cells, length: int) -> Sequence[bytes]:
    if isinstance(cells, str):
        return [_cell(cells)] * length
    if cells.dtype == MICROSECONDS:
        moments = np.datetime_as_string(cells, unit="us", timezone="UTC")
        dated: list[bytes] = moments.astype("S").tolist()
        return dated
    if not length:
        return []
    plain = orjson.dumps(np.ascontiguousarray(cells), option=orjson.OPT_SERIALIZE_NUMPY)
    texts = plain[1:-1].split(b",")
    for place in np.flatnonzero(~np.isfinite(cells)).tolist():
        texts[place] = _name(cells[place])
    return texts


def _name(value: float) -> bytes:
    if math.isnan(value):
        return b"NaN"
    return b"Infinity" if value > 0 else b"-Infinity"


def _arrow_type(kind: type[Any]) -> Any:
    if kind is str:
        return na.string(nullable=False)
    if kind is np.datetime64:
        return na.timestamp("us", timezone="UTC", nullable=False)
    return na.float64(nullable=False)


# Any: nanoarrow ships no types.
def _arrow_column(kind: Any, cells: Cells, length: int) -> Any:
    if isinstance(cells, str):
        text = cells.encode()
        ends = np.arange(length + 1, dtype="<i4") * np.int32(len(text))
        buffers = [None, ends, text * length]
    else:
        buffers = [None, np.ascontiguousarray(cells)]
        if cells.dtype == MICROSECONDS:
            buffers[1] = cells.view("<i8")
    return na.c_array_from_buffers(kind, length, buffers, null_count=0)
