"""Points of a run's series, in as many buckets as the caller can show."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router, Schema

from tracker.access import readable_run
from tracker.api.answers import json_response, number, numbers
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.params import Buckets, High, Low, Paths
from tracker.queries.series import Axis, Line, read_lines

router = Router(tags=["runs"], auth=ReaderAuth())

# A spreadsheet takes a cell that begins so for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

Format = Annotated[Literal["json", "csv"], Query(description="What is answered.")]


class LineOut(Schema):
    """One list entry per bucket; when exact, each bucket is one point."""

    path: str
    exact: bool
    count: int
    x: list[float | str]
    mean: list[float | str]
    minimum: list[float | str]
    maximum: list[float | str]


class SeriesOut(Schema):
    axis: Axis
    series: list[LineOut]


@router.get("/runs/{uuid:run_id}/series", response=SeriesOut)
def read_series(
    request: ApiRequest,
    *,
    run_id: UUID,
    paths: Paths,
    axis: Axis = Axis.STEP,
    low: Low = None,
    high: High = None,
    buckets: Buckets = 500,
    format: Format = "json",  # noqa: A002 - the parameter's name in the API
) -> HttpResponse:
    """Series of the run over steps, time (ms since 1970) or seconds since its start."""
    run = readable_run(request.auth, run_id)
    lines = read_lines(
        [(run, path) for path in paths],
        axis=axis,
        low=low,
        high=high,
        buckets=buckets,
    )
    if format == "csv":
        return _csv_response(lines, axis)
    return json_response({"axis": axis, "series": [_line(line) for line in lines]})


def _line(line: Line) -> dict[str, object]:
    return {
        "path": line.path,
        "exact": line.exact,
        "count": line.count,
        "x": numbers(line.x),
        "mean": numbers(line.mean),
        "minimum": numbers(line.minimum),
        "maximum": numbers(line.maximum),
    }


def _csv_response(lines: Sequence[Line], axis: Axis) -> HttpResponse:
    table = StringIO()
    writer = csv.writer(table)
    writer.writerow(["path", axis, "mean", "minimum", "maximum"])
    for line in lines:
        writer.writerows(_rows(line))
    return HttpResponse(
        table.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="series.csv"'},
    )


def _rows(line: Line) -> Iterator[list[object]]:
    path = _harmless(line.path)
    columns = (line.x, line.mean, line.minimum, line.maximum)
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield [path, *map(number, row)]


def _harmless(text: str) -> str:
    """Return a cell that no spreadsheet runs; paths are chosen by whoever logs."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
