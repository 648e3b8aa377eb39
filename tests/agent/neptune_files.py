"""Writes Parquet files in the schema of neptune-exporter."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

BEGAN = datetime(2026, 5, 1, 10, tzinfo=timezone.utc)
BEGAN_AT = int(BEGAN.timestamp()) * 1_000_000
TIME = pa.timestamp("ms", tz="UTC")
SCHEMA = pa.schema(
    [
        ("project_id", pa.string()),
        ("run_id", pa.string()),
        ("attribute_path", pa.string()),
        ("attribute_type", pa.string()),
        ("step", pa.decimal128(18, 6)),
        ("timestamp", TIME),
        ("int_value", pa.int64()),
        ("float_value", pa.float64()),
        ("string_value", pa.string()),
        ("bool_value", pa.bool_()),
        ("datetime_value", TIME),
        ("string_set_value", pa.list_(pa.string())),
        ("file_value", pa.struct([("path", pa.string())])),
        (
            "histogram_value",
            pa.struct(
                [
                    ("type", pa.string()),
                    ("edges", pa.list_(pa.float64())),
                    ("values", pa.list_(pa.float64())),
                ]
            ),
        ),
    ]
)
_COLUMNS = {
    "int": "int_value",
    "float": "float_value",
    "string": "string_value",
    "bool": "bool_value",
    "datetime": "datetime_value",
    "string_set": "string_set_value",
    "float_series": "float_value",
    "string_series": "string_value",
    "histogram_series": "histogram_value",
}


def value(path, kind, content):
    """Return the row of a single value, or of a file by its path."""
    if kind in _COLUMNS:
        return {
            "attribute_path": path,
            "attribute_type": kind,
            _COLUMNS[kind]: content,
        }
    file = {"path": content} if content else None
    return {"attribute_path": path, "attribute_type": kind, "file_value": file}


def point(path, kind, step, content, seconds=0.0):
    """Return the row of a point, some seconds after the run's start."""
    row = value(path, kind, content)
    return {
        **row,
        "step": Decimal(str(step)).quantize(Decimal("1.000000")),
        "timestamp": BEGAN + timedelta(seconds=seconds),
    }


def losses(count, path="train/loss"):
    """Return the rows of a series, a second and half a step apart."""
    return [
        point(path, "float_series", number / 2, 1 / (number + 1), number)
        for number in range(count)
    ]


def sanitized(text):
    """Return a name as the exporter uses it for files and folders."""
    kept = "".join(c if c.isalnum() or c in "_-" else "_" for c in text)
    return f"{kept}-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"


def write_run(root, run_id, *parts, project="acme/vision", name="baseline"):
    """Write the parts of a run below `root`/data; return the files."""
    first, *others = parts or ([],)
    header = [value("sys/creation_time", "datetime", BEGAN)]
    if name:
        header.append(value("sys/name", "string", name))
    folder = root / "data" / sanitized(project)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, rows in enumerate([[*header, *first], *others]):
        named = [{"project_id": project, "run_id": run_id, **row} for row in rows]
        file = folder / f"{sanitized(run_id)}_part_{number}.parquet"
        pq.write_table(pa.Table.from_pylist(named, schema=SCHEMA), file)
        files.append(file)
    return files


def files_folder(root, project="acme/vision"):
    folder = root / "files" / sanitized(project)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
