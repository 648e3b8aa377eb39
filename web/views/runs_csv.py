"""What a runs table shows, as a CSV: the same runs, columns and order."""

from __future__ import annotations

import csv
import io
import logging
from collections.abc import Generator, Sequence

from django.http import HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from tracker.access import readable_project
from tracker.files.downloads import Download
from tracker.files.names import attachment
from tracker.queries.column_keys import of_attribute, paths_of, with_gpu_time
from tracker.queries.runs import run_rows, runs_in_order
from web.run_blocks import shown_columns, value_places
from web.run_cells import csv_cell, safe_text
from web.session import PageRequest, signed_in
from web.table_state import TableState, read_table

logger = logging.getLogger(__name__)

MOST_RUNS = 500_000
ROWS_AT_ONCE = 500
# What the numbers of a column are, where that is not said by its name.
UNITS = {
    "duration": "duration (s)",
    "gpu": "gpu (%)",
    "cpu": "cpu (%)",
    "gpu_idle": "gpu idle (%)",
    "gpu_hours": "gpu hours",
    "energy": "energy (J)",
    "finding": "main finding",
    "made_by": "made by",
}
CUT_SHORT = "# The server could not go on; what is above is complete up to here."


@require_safe
@signed_in
def runs_csv(request: PageRequest, workspace: str, project: str) -> HttpResponseBase:
    found = readable_project(request.actor, workspace, project)
    pieces = _written(found.id, read_table(request.GET))
    response = StreamingHttpResponse(
        Download(pieces), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = attachment(f"{found.slug}-runs.csv")
    return response


def _written(project_id: int, state: TableState) -> Generator[bytes]:
    """Write the runs as they are when asked for, a few at a time."""
    keys = shown_columns(project_id, state)
    paths = paths_of(keys)
    places = value_places(keys, paths)
    yield _line(["name", *map(_title, keys), "id"])
    try:
        ids = runs_in_order(
            project_id, wanted=state.wanted, order=state.order, limit=MOST_RUNS
        )
        for low in range(0, len(ids), ROWS_AT_ONCE):
            some = ids[low : low + ROWS_AT_ONCE]
            rows = run_rows(some, paths, gpu_time=with_gpu_time(keys))
            yield b"".join(
                _line(
                    [
                        safe_text(row.name),
                        *(csv_cell(row, *at) for at in zip(keys, places, strict=True)),
                        str(row.id),
                    ]
                )
                for row in rows
            )
    except Exception:
        # The answer has begun, and granian ends it as if all were well.
        logger.exception("a table of runs ended early")
        yield _line([CUT_SHORT])


def _title(key: str) -> str:
    column = of_attribute(key)
    if column is None:
        return UNITS.get(key, key)
    if column.summary == "last":
        return safe_text(column.path)
    return f"{column.summary}({column.path})"


def _line(cells: Sequence[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue().encode()
