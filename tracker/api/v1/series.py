"""Points of a run's series, in a requested number of buckets."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router, Schema

from tracker.access.runs import readable_run
from tracker.api.answers import json_response, numbers
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.lines import table_of_lines
from tracker.api.params import Buckets, High, Low, Paths
from tracker.api.tables import CSV
from tracker.queries.series.series import Axis, Line, read_lines
from tracker.queries.series.versions import version_of
from tracker.server.etags import fresh_answer

router = Router(tags=["runs"], auth=ReaderAuth())

# Part of every ETag: increase it when an upgrade changes the response for the same
# points.
VERSION = 1

# Described by hand: ninja supports one content type only.
DESCRIBED = {
    "responses": {
        200: {"content": {"text/csv": {"schema": {"type": "string"}}}},
        304: {"description": "Nothing has arrived since the response with this ETag."},
    }
}

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


@router.get("/runs/{uuid:run_id}/series", response=SeriesOut, openapi_extra=DESCRIBED)
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
    version = version_of([run], VERSION, sorted(request.GET.lists()))

    def draw() -> HttpResponse:
        lines = read_lines(
            [(run, path) for path in paths],
            axis=axis,
            low=low,
            high=high,
            buckets=buckets,
        )
        if format == "csv":
            return table_of_lines(lines, axis, CSV, has_runs=False)
        described = [_line(line) for line in lines]
        return json_response({"axis": axis, "series": described})

    return fresh_answer(request, version, draw)


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
