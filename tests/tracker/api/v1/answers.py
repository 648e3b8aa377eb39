"""Decodes responses with points like a client, independently of the server's code."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from io import StringIO

import numpy as np
import pyarrow as pa

COLUMNS = ("x", "mean", "minimum", "maximum")


@dataclass
class Line:
    run: str
    path: str
    x: np.ndarray
    mean: np.ndarray
    minimum: np.ndarray
    maximum: np.ndarray


def decoded(response, kind):
    """Return the lines of a complete response."""
    if kind in ("json", "binary"):
        return put_together(response, kind, None)[1]
    rows = csv_rows(response) if kind == "csv" else arrow_rows(response)
    lines: dict[tuple[str, str], list] = {}
    for run, path, *numbers in rows:
        lines.setdefault((run, path), []).append([float(n) for n in numbers])
    return [Line(*key, *np.array(found).T) for key, found in lines.items()]


def csv_rows(response):
    rows = list(csv.reader(StringIO(response.content.decode())))
    assert rows[0][:2] + rows[0][3:] == ["run", "path", *COLUMNS[1:]]
    return rows[1:]


def arrow_rows(response):
    table = pa.ipc.open_stream(response.content).read_all()
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def put_together(response, kind, held):
    """Apply a response to the lines of a client; return its head and the new lines.

    `new` in the head has the x values sent for each line.
    """
    head = response.json() if kind == "json" else binary_head(response.content)
    lines = []
    head["new"] = [np.array(line["x"]) for line in head["series"]]
    for number, line in enumerate(head["series"]):
        columns = []
        for name in COLUMNS:
            sent = line[name] if line[name] is not None else line["mean"]
            sent = np.array([float(value) for value in sent])
            kept = getattr(held[number], name)[: line["keep"]] if line["keep"] else []
            columns.append(np.concatenate([kept, sent]))
        lines.append(Line(line["run"], line["path"], *columns))
    return head, lines


def binary_head(body):
    assert body[:4] == b"SMP\x01"
    start = 8 + int.from_bytes(body[4:8], "little")
    head = json.loads(body[8:start])
    columns = [
        np.frombuffer(body, "<" + dtype, count, start + offset)
        for dtype, offset, count in head["columns"]
    ]
    for line in head["series"]:
        for name in COLUMNS:
            line[name] = columns[line[name]].tolist()
    return head
