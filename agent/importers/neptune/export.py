"""Reads the Parquet files that neptune-exporter writes; needs pyarrow.

A run has one or more parts, `<run>_part_<number>.parquet`. Each row is a single value, or
a point of a series, at `attribute_path`; `attribute_type` selects its value column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from seamark.importers.problems import Problems

# Types of single values, with their columns.
_VALUES = {
    "int": "int_value",
    "float": "float_value",
    "string": "string_value",
    "bool": "bool_value",
    "datetime": "datetime_value",
    "string_set": "string_set_value",
}
# Other types, with their columns.
_OTHERS = {
    "float_series": "float_value",
    "string_series": "string_value",
    "histogram_series": "histogram_value",
    "file": "file_value",
    "file_series": "file_value",
    "file_set": "file_value",
    "artifact": "file_value",
}
_REQUIRED = ("project_id", "run_id", "attribute_path", "attribute_type")
_MODEL_FOLDERS = frozenset({"models", "model_versions"})
_PART = re.compile(r"(.+)_part_(\d+)\.parquet")
_BATCH_ROWS = 65_536
_MICROSECONDS = 1_000


class Unreadable(Exception):
    """A part cannot be read; the message is the reason."""


@dataclass(frozen=True)
class Parts:
    """The files of one run."""

    name: str
    folder: Path
    files: tuple[Path, ...]
    is_complete: bool


@dataclass
class Header:
    """The single values of a run."""

    project: str = ""
    run_id: str = ""
    values: dict[str, Any] = field(default_factory=dict)  # Any: values of users
    # The earliest time of a point, in microseconds since 1970.
    first: int | None = None
    rows: int = 0

    def text(self, path: str) -> str:
        """Return a value as a text; "" if there is none."""
        value = self.values.get(path)
        return "" if value is None else str(value)

    def time(self, path: str) -> int | None:
        """Return a time in microseconds since 1970; None if there is none."""
        value = self.values.get(path)
        if not isinstance(value, datetime):
            return None
        return round(value.timestamp() * 1_000_000)


class Rows(NamedTuple):
    """Rows of one attribute: parallel lists."""

    path: str
    kind: str
    numbers: list[int]  # in the file, from 1
    steps: list[float | None]
    times: list[int | None]  # microseconds since 1970
    values: list[Any]  # Any: by type


def find_runs(folder: Path) -> tuple[list[Parts], int]:
    """Return the runs below a folder, and the number of files of the model registry."""
    found: dict[tuple[Path, str], dict[int, Path]] = {}
    models = 0
    for path in sorted(folder.rglob("*.parquet")):
        match = _PART.fullmatch(path.name)
        if match is None:
            continue
        if path.parent.name in _MODEL_FOLDERS:
            models += 1
            continue
        found.setdefault((path.parent, match[1]), {})[int(match[2])] = path
    runs = [
        Parts(
            name,
            parent,
            tuple(parts[number] for number in sorted(parts)),
            # The exporter renames part 0 last.
            is_complete=sorted(parts) == list(range(len(parts))),
        )
        for (parent, name), parts in found.items()
    ]
    return runs, models


def read_header(files: Sequence[Path]) -> Header:
    """Return the single values of a run; raises Unreadable."""
    header = Header()
    for file in files:
        columns = [*_REQUIRED, "timestamp", *_VALUES.values()]
        for batch in _batches(file, columns):
            _add_values(header, batch)
    return header


def read_rows(file: Path, problems: Problems) -> Iterator[Rows]:
    """Yield the series and files of a part, several times each; raises Unreadable."""
    columns = ["attribute_path", "attribute_type", "step", "timestamp"]
    before = 0
    for batch in _batches(file, [*columns, *dict.fromkeys(_OTHERS.values())]):
        groups: dict[tuple[str, str], list[int]] = {}
        paths = batch.column("attribute_path").to_pylist()
        kinds = batch.column("attribute_type").to_pylist()
        for index, (path, kind) in enumerate(zip(paths, kinds, strict=True)):
            if kind in _VALUES:
                continue
            if kind in _OTHERS and path:
                groups.setdefault((path, kind), []).append(index)
            else:
                cause = f"its type {str(kind)[:60]!a} is unknown"
                problems.add(cause, before + index + 1)
        if groups:
            yield from _rows(batch, groups, before)
        before += batch.num_rows


# Any, here and below: pyarrow has no types of its own.
def _rows(
    batch: Any, groups: dict[tuple[str, str], list[int]], before: int
) -> Iterator[Rows]:
    import pyarrow.compute as pc  # noqa: PLC0415 - an optional package

    steps = _column(batch, "step", "float64")
    times = _column(batch, "timestamp", "int64")
    columns: dict[str, Any] = {}
    for (path, kind), indices in groups.items():
        name = _OTHERS[kind]
        if name not in columns:
            columns[name] = _column(batch, name)
        values = columns[name]
        if not isinstance(values, list):
            # Only the group's rows: a batch may have large histograms.
            values = pc.take(values, indices).to_pylist()
        yield Rows(
            path,
            kind,
            [before + index + 1 for index in indices],
            [steps[index] for index in indices],
            [_microseconds(times[index]) for index in indices],
            values,
        )


def _add_values(header: Header, batch: Any) -> None:
    import pyarrow as pa  # noqa: PLC0415 - an optional package
    import pyarrow.compute as pc  # noqa: PLC0415

    header.rows += batch.num_rows
    for name in ("project_id", "run_id"):
        for value in pc.unique(batch.column(name)).to_pylist():
            known = header.project if name == "project_id" else header.run_id
            if value and known and value != known:
                raise Unreadable("it has rows of several runs")
            if value and name == "project_id":
                header.project = value
            elif value:
                header.run_id = value
    if "timestamp" in batch.schema.names:
        first = pc.min(batch.column("timestamp").cast(pa.int64())).as_py()
        if first is not None:
            moment = first * _MICROSECONDS
            header.first = moment if header.first is None else min(header.first, moment)
    kinds = batch.column("attribute_type")
    for kind, name in _VALUES.items():
        if name not in batch.schema.names:
            continue
        some = batch.filter(pc.equal(kinds, kind))
        paths = some.column("attribute_path").to_pylist()
        values = some.column(name).to_pylist()
        # Every attribute of one run has a row in all runs exported with it.
        pairs = zip(paths, values, strict=True)
        header.values.update({p: v for p, v in pairs if p and v is not None})


def _column(batch: Any, name: str, kind: str = "") -> Any:
    """Return a column: a list if it is converted, else pyarrow's array."""
    import pyarrow as pa  # noqa: PLC0415 - an optional package

    if name not in batch.schema.names:
        return [None] * batch.num_rows
    column = batch.column(name)
    if kind == "float64":
        # Steps have 6 digits; rounding makes them the nearest floats.
        floats = column.cast(pa.float64()).to_pylist()
        return [None if step is None else round(step, 6) for step in floats]
    return column.cast(kind).to_pylist() if kind else column


def _microseconds(milliseconds: int | None) -> int | None:
    return None if milliseconds is None else milliseconds * _MICROSECONDS


def _batches(file: Path, columns: Sequence[str]) -> Iterator[Any]:
    """Yield batches of a part with the columns that it has; raises Unreadable."""
    import pyarrow as pa  # noqa: PLC0415 - an optional package
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(file) as content:
            names = content.schema_arrow.names
            missing = [name for name in _REQUIRED if name not in names]
            if missing:
                raise Unreadable(
                    f"it has no column {missing[0]}; it is not an export of "
                    "neptune-exporter"
                )
            chosen = [name for name in columns if name in names]
            for batch in content.iter_batches(_BATCH_ROWS, columns=chosen):
                yield _in_milliseconds(batch)
    except (pa.ArrowException, OSError) as error:
        raise Unreadable(f"it is damaged or cut off ({_first_line(error)})") from error


def _in_milliseconds(batch: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - an optional package

    if "timestamp" not in batch.schema.names:
        return batch
    place = batch.schema.get_field_index("timestamp")
    times = batch.column(place)
    if times.type == pa.timestamp("ms", tz="UTC"):
        return batch
    # Tables that other tools rewrote may have another unit.
    return batch.set_column(
        place, "timestamp", times.cast(pa.timestamp("ms", tz="UTC"), safe=False)
    )


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
