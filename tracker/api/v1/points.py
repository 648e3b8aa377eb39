"""Points of many series of many runs in one call: for charts, or all there are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from ninja import Query, Router, Schema

from tracker.access import readable_runs
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.lines import BINARY, binary_lines, json_lines, table_of_lines
from tracker.api.params import Buckets, High, Low, Name
from tracker.api.tables import (
    ARROW,
    CONTENT_TYPES,
    Export,
    download,
    written_points,
)
from tracker.freshness import fresh_answer, is_held, marked, not_modified
from tracker.queries.all_points import read_all_points
from tracker.queries.series import Axis, every_series, read_lines
from tracker.queries.versions import version_of

router = Router(tags=["runs"], auth=ReaderAuth())

# Of one answer, over all its series; where points are few, each may be two of them.
MOST_BUCKETS = 10_000
MOST_SERIES = 1_000
# Part of every ETag, for what an upgrade may change of the same points.
VERSION = 1

# The default of a list that is never changed.
NO_PATHS: list[str] = []

Runs = Annotated[
    list[UUID],
    Query(
        alias="run",
        min_length=1,
        max_length=100,
        description="May be repeated; of any project of the workspace.",
    ),
]
ManyPaths = Annotated[
    list[Name],
    Query(alias="path", min_length=1, max_length=200, description="May be repeated."),
]
AnyPaths = Annotated[
    list[Name],
    Query(
        alias="path",
        max_length=200,
        description="May be repeated. Without any, every series of the runs.",
    ),
]
Cursor = Annotated[
    int, Query(ge=0, le=2**31, description="`next` of the answer before.")
]
Since = Annotated[
    str | None,
    Query(
        max_length=8_192,
        description="`since` of the answer before, or empty at first: of each series,"
        " only what is new is answered, and `keep` says after how many of the buckets"
        " there were. For json and binary.",
    ),
]
Format = Annotated[
    Literal["json", "csv", "arrow", "binary"], Query(description="What is answered.")
]
Attempts = Annotated[
    Literal["latest", "all"],
    Query(description="Of steps that were logged again: the latest point, or all."),
]
TableFormat = Annotated[Literal["csv", "arrow"], Query(description="What is answered.")]

BYTES = {"schema": {"type": "string", "format": "binary"}}
TEXT = {"schema": {"type": "string"}}
UNCHANGED = {"description": "Nothing has arrived since the answer with this ETag."}
# Described by hand: ninja knows of one content type only.
LINES = {
    "responses": {
        200: {
            "content": {"text/csv": TEXT, CONTENT_TYPES[ARROW]: BYTES, BINARY: BYTES}
        },
        304: UNCHANGED,
    }
}
TABLES = {
    "responses": {
        200: {
            "description": "OK",
            "content": {"text/csv": TEXT, CONTENT_TYPES[ARROW]: BYTES},
        },
        304: UNCHANGED,
    }
}


class RunLineOut(Schema):
    """Buckets after the `keep` first ones; of an exact line, each is one point.

    The lowest and highest of an exact line are its means, and so they are null.
    """

    run: UUID
    path: str
    exact: bool
    count: int
    keep: int
    x: list[float | str]
    mean: list[float | str]
    minimum: list[float | str] | None
    maximum: list[float | str] | None


class LinesOut(Schema):
    axis: Axis
    next: int | None
    since: str | None
    series: list[RunLineOut]


@router.get(
    "/projects/{slug:workspace}/{slug:project}/series",
    response=LinesOut,
    openapi_extra=LINES,
)
def read_many_series(
    request: ApiRequest,
    *,
    workspace: str,
    project: str,
    run_ids: Runs,
    paths: AnyPaths = NO_PATHS,
    axis: Axis = Axis.STEP,
    low: Low = None,
    high: High = None,
    buckets: Buckets = 500,
    format: Format = "json",  # noqa: A002 - the parameter's name in the API
    cursor: Cursor = 0,
    since: Since = None,
) -> HttpResponseBase:
    """Each path of each run over steps, time (ms since 1970) or seconds since its start.

    An answer has at most 10,000 buckets and 1,000 series. `next`, and a Link header,
    lead on to the others.
    """
    runs = readable_runs(request.auth, workspace, project, list(dict.fromkeys(run_ids)))
    version = version_of(runs, VERSION, _question(request))
    page = min(MOST_SERIES, MOST_BUCKETS // buckets)

    def draw() -> HttpResponse:
        # One more, to know whether there are more.
        wanted = _wanted(runs, paths, slice(cursor, cursor + page + 1))
        following = cursor + page if len(wanted) > page else None
        lines = read_lines(
            wanted[:page],
            axis=axis,
            low=low,
            high=high,
            buckets=buckets,
            steady=since is not None,
        )
        response: HttpResponse
        if format in CONTENT_TYPES:
            response = table_of_lines(lines, axis, format, has_runs=True)
        else:
            answer = binary_lines if format == "binary" else json_lines
            response = answer(lines, {"axis": axis, "next": following}, since)
        if following is not None:
            response["Link"] = f'<{_address(request, following)}>; rel="next"'
        return response

    return fresh_answer(request, version, draw)


@router.get("/projects/{slug:workspace}/{slug:project}/points", openapi_extra=TABLES)
def read_every_point(
    request: ApiRequest,
    *,
    workspace: str,
    project: str,
    run_ids: Runs,
    paths: ManyPaths,
    axis: Axis = Axis.STEP,
    low: Low = None,
    high: High = None,
    attempts: Attempts = "latest",
    format: TableFormat = "csv",  # noqa: A002 - the parameter's name in the API
) -> HttpResponseBase:
    """All points of each path of each run, in order of step, sent while they are read.

    Of steps that a job logged again after it was started again, the latest attempt's.
    """
    runs = readable_runs(request.auth, workspace, project, list(dict.fromkeys(run_ids)))
    version = version_of(runs, VERSION, _question(request))
    if is_held(request, version):
        return not_modified(version)

    wanted = list(product(runs, dict.fromkeys(paths)))
    parts = read_all_points(
        wanted, axis=axis, low=low, high=high, all_attempts=attempts == "all"
    )
    export = Export(written_points(parts, format))
    return marked(download(StreamingHttpResponse(export), format, "points"), version)


# Any: rows of the runs table, which endpoints do not import.
def _wanted(
    runs: Sequence[Any], paths: Sequence[str], page: slice
) -> list[tuple[Any, str]]:
    if not paths:
        return every_series(runs, page)
    return [(run, path) for path, run in product(dict.fromkeys(paths), runs)][page]


def _question(request: ApiRequest) -> list[tuple[str, list[str]]]:
    """Return what is asked; what the reader holds of it already is not part of that."""
    asked = {name: values for name, values in request.GET.lists() if name != "since"}
    return sorted(asked.items())


def _address(request: ApiRequest, cursor: int) -> str:
    query = request.GET.copy()
    query["cursor"] = str(cursor)
    query.pop("since", None)
    return f"{request.path}?{query.urlencode()}"
