"""Attributes as lines of CSV, and each value as it is copied (pure)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime

from tracker.queries.attributes import AttributeRow, Value

COLUMNS = (
    *("path", "kind", "value", "count", "minimum", "maximum", "mean"),
    *("first_step", "last_step", "updated_at"),
)
SERIES = "_series"


class _Echo:
    """What a writer of CSV writes to, and gets back."""

    def write(self, line: str) -> str:
        return line


def csv_lines(rows: Iterable[AttributeRow]) -> Iterator[str]:
    """Yield a line of names, and one for each attribute."""
    writer = csv.writer(_Echo())
    yield str(writer.writerow(COLUMNS))
    for row in rows:
        yield str(writer.writerow(_cells(row)))


def plain_value(value: Value | None) -> str:
    """Return a value with all of its digits, as scripts write it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
        case list():
            return ", ".join(value)
        case _:
            return str(value)


def _cells(row: AttributeRow) -> list[object]:
    is_series = row.kind.endswith(SERIES)
    summary = (row.minimum, row.maximum, row.mean, row.first_step, row.last_step)
    return [
        row.path,
        row.kind,
        plain_value(row.value),
        row.count if is_series else "",
        *("" if each is None else each for each in summary),
        row.updated_at.isoformat(),
    ]
