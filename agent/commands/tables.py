"""Writes attributes and points as CSV, JSON or Parquet, row by row."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, BinaryIO, TextIO

from seamark.commands.output import MISUSED, Refusal, no_formula, time_text
from seamark.reading.client import Json
from seamark.reading.records import StoredHistogram, StoredImage, StoredRecords
from seamark.reading.series import Points
from seamark.reading.values import to_moment

# Extensions of the files of attributes and points.
ENDINGS = {
    "csv": ("csv", "csv"),
    "json": ("json", "jsonl"),
    "parquet": ("parquet", "parquet"),
}
# In Parquet the value is JSON text, because a column has one type.
ATTRIBUTE_COLUMNS = (
    *("path", "kind", "value", "updated_at"),
    *("count", "minimum", "maximum", "mean", "first_step", "last_step"),
)
_POINT_COLUMNS = ("path", "step", "time", "value")
# Smaller row groups are slow to read; larger ones need more memory.
_GROUP_ROWS = 262_144


def check_format(kind: str) -> None:
    """Raise Refusal if a format needs a package that is not installed."""
    if kind != "parquet":
        return
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415 - an optional package
    except ImportError:
        raise Refusal(
            "needs_pyarrow",
            "Parquet needs pyarrow: pip install pyarrow (or --format csv).",
            MISUSED,
        ) from None


def write_attributes(kind: str, file: BinaryIO, rows: Sequence[Json]) -> None:
    """Write the attributes of a run."""
    rows = [
        {**row, "updated_at": time_text(to_moment(row["updated_at"]))} for row in rows
    ]
    if kind == "json":
        file.write(json.dumps({"attributes": rows}, indent=2).encode())
        file.write(b"\n")
    elif kind == "csv":
        with _text(file) as text:
            table = csv.writer(text, lineterminator="\n")
            table.writerow(ATTRIBUTE_COLUMNS)
            for row in rows:
                table.writerow([_cell(row.get(name)) for name in ATTRIBUTE_COLUMNS])
    else:
        _write_attributes_as_parquet(file, rows)


def write_points(kind: str, file: BinaryIO, points: Points) -> int:
    """Write points as they arrive; return their number."""
    if kind == "parquet":
        return _write_points_as_parquet(file, points)
    count = 0
    with _text(file) as text:
        if kind == "json":
            for path, step, moment, value in points:
                row = (path, step, time_text(moment), _json_number(value))
                line = json.dumps(dict(zip(_POINT_COLUMNS, row, strict=True)))
                text.write(f"{line}\n")
                count += 1
            return count
        table = csv.writer(text, lineterminator="\n")
        table.writerow(_POINT_COLUMNS)
        for path, step, moment, value in points:
            table.writerow((no_formula(path), step, time_text(moment), value))
            count += 1
    return count


def write_records(file: BinaryIO, path: str, records: StoredRecords) -> None:
    """Write texts, histograms and pictures of a series as JSON lines."""
    for step, moment, value in records:
        if isinstance(value, StoredHistogram | StoredImage):
            value = asdict(value)  # noqa: PLW2901 - for JSON
        row = (path, step, time_text(moment), value)
        line = json.dumps(dict(zip(_POINT_COLUMNS, row, strict=True)))
        file.write(f"{line}\n".encode())


@contextmanager
def _text(file: BinaryIO) -> Iterator[TextIO]:
    """Wrap a file as text, and leave it open."""
    text = io.TextIOWrapper(file, "utf-8", newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()


def _cell(value: object) -> str:
    if value is None:
        return ""
    return no_formula(value if isinstance(value, str) else json.dumps(value))


def _json_number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _write_attributes_as_parquet(file: BinaryIO, rows: Sequence[Json]) -> None:
    import pyarrow as pa  # noqa: PLC0415 - an optional package
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    def kind_of(name: str) -> Any:
        if name == "count":
            return pa.int64()
        is_text = name in ("path", "kind", "value", "updated_at")
        return pa.string() if is_text else pa.float64()

    def cell(row: Json, name: str) -> object:
        value = row.get(name)
        if name == "value":
            return json.dumps(value)
        is_number = name not in ("path", "kind", "updated_at", "count")
        return float(value) if is_number and value is not None else value

    columns = {
        name: pa.array([cell(row, name) for row in rows], kind_of(name))
        for name in ATTRIBUTE_COLUMNS
    }
    pq.write_table(pa.table(columns), file)


def _write_points_as_parquet(file: BinaryIO, points: Points) -> int:
    import pyarrow as pa  # noqa: PLC0415 - an optional package
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    schema = pa.schema(
        [
            ("path", pa.string()),
            ("step", pa.float64()),
            ("time", pa.timestamp("us", tz="UTC")),
            ("value", pa.float64()),
        ]
    )
    count = 0
    # Any: pyarrow has no types.
    pending: list[Any] = []
    with pq.ParquetWriter(file, schema) as table:
        for batch in points.batches():
            part = pa.Table.from_batches([batch]).select(list(_POINT_COLUMNS))
            pending.append(part.cast(schema))
            count += part.num_rows
            if sum(one.num_rows for one in pending) >= _GROUP_ROWS:
                table.write_table(pa.concat_tables(pending))
                pending.clear()
        if pending:
            table.write_table(pa.concat_tables(pending))
    return count
