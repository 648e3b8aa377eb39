"""Attributes as rows of a table (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tracker.queries.run.attributes import AttributeRow
from web.csv_answer import Row

COLUMNS = (
    *("path", "kind", "value", "count", "minimum", "maximum", "mean"),
    *("first_step", "last_step", "updated_at"),
)
SERIES = "_series"


def csv_rows(attributes: Iterable[AttributeRow]) -> Iterator[Row]:
    """Yield the columns' names, and a row for each attribute."""
    yield COLUMNS
    for row in attributes:
        yield (
            *(row.path, row.kind, row.value),
            row.count if row.kind.endswith(SERIES) else None,
            *(row.minimum, row.maximum, row.mean, row.first_step, row.last_step),
            row.updated_at,
        )
