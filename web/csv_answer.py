"""Tables as CSV: sent while they are read; no text of them is a formula."""

from __future__ import annotations

import csv
import io
import logging
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice

from django.http import StreamingHttpResponse

from tracker.files.downloads import Download
from tracker.files.names import attachment
from tracker.queries.run.attributes import Value, plain_value

logger = logging.getLogger(__name__)

# A spreadsheet would take a text that begins with one of these for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
LINES_AT_ONCE = 500
CUT_SHORT = "# A server error stopped the export; the rows above are complete."

Cell = Value | None
Row = Sequence[Cell]


def csv_answer(rows: Iterable[Row], name: str) -> StreamingHttpResponse:
    """Return rows as a CSV download; the first row has the column names."""
    response = StreamingHttpResponse(
        Download(written(rows)), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = attachment(name)
    return response


def written(rows: Iterable[Row]) -> Generator[bytes]:
    """Yield rows as lines; the last one reports if not all could be read."""
    lines = _until_failure(rows)
    while some := "".join(islice(lines, LINES_AT_ONCE)):
        yield some.encode()


def safe_text(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _until_failure(rows: Iterable[Row]) -> Iterator[str]:
    try:
        yield from map(_line, rows)
    except Exception:
        # The answer has begun, and granian ends it as if all were well.
        logger.exception("a table ended early")
        yield _line([CUT_SHORT])


def _line(row: Row) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(map(_cell, row))
    return text.getvalue()


def _cell(value: Cell) -> str:
    text = plain_value(value)
    # Negative numbers start like a formula but are safe.
    return text if isinstance(value, int | float) else safe_text(text)
