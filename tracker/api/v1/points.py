"""Points of many series of many runs in one call: reduced for charts, or in full."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from ninja import Query, Router, Schema

from tracker.access.runs import readable_runs
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.lines import BINARY, binary_lines, json_lines, table_of_lines
from tracker.api.params import LONGEST_TEXT, Buckets, High, Low, Name
from tracker.api.tables import (
    ARROW,
    CONTENT_TYPES,
    Export,
    download,
    written_points,
)
from tracker.errors import InvalidInput
from tracker.queries.series.all_points import read_all_points
from tracker.queries.series.series import Axis, every_series, read_lines
from tracker.queries.series.versions import version_of
from tracker.series.wire import most_held
from tracker.server.etags import fresh_answer, is_held, marked, not_modified

router = Router(tags=["runs"], auth=ReaderAuth())

# Limit of one response over all its series; a series with few points may exceed its
# share.
MAX_BUCKETS = 10_000
MAX_SERIES = 1_000
# Maximum length of `since`, and the number of series that fit into it.
LONGEST_SINCE = 8_192
MAX_HELD = most_held(LONGEST_SINCE)
# The number of requested paths and runs already returned; or, when listing every
# series, the last run and path.
CURSOR = r"^([0-9]{1,10}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[^\x00]+)$"
FIRST = "0"
# Part of every ETag: increase it when an upgrade changes the response for the same
# points.
VERSION = 1

NOT_OF_THIS_LIST = "is not one of this list; start again without it"

# The default of a list, never changed.
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
    str,
    Query(
        max_length=36 + len(":") + LONGEST_TEXT,
        pattern=CURSOR,
        description="`next` of the previous page.",
    ),
]
Since = Annotated[
    str | None,
    Query(
        max_length=LONGEST_SINCE,
        description="`since` of the previous response, or empty at first: returns only"
        " the new buckets of each series, and `keep` is the number of earlier buckets"
        " to keep. For json and binary.",
    ),
]
Format = Annotated[
    Literal["json", "csv", "arrow", "binary"], Query(description="What is answered.")
]
Attempts = Annotated[
    Literal["latest", "all"],
    Query(description="For steps logged repeatedly: the latest point, or all."),
]
TableFormat = Annotated[Literal["csv", "arrow"], Query(description="What is answered.")]

BYTES = {"schema": {"type": "string", "format": "binary"}}
TEXT = {"schema": {"type": "string"}}
UNCHANGED = {"description": "Nothing has arrived since the response with this ETag."}
# Described by hand: ninja supports one content type only.
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
    """Buckets after the first `keep` ones; in an exact line, each is one point.

    Minimum and maximum of an exact line equal its means and are null.
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
    next: int | str | None
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
    cursor: Cursor = FIRST,
    since: Since = None,
) -> HttpResponseBase:
    """Each path of each run over steps, time (ms since 1970) or seconds since its
    start.

    A response has at most 10,000 buckets and 1,000 series, 384 with `since`. `next` and
    a Link header lead to the next page.
    """
    runs = readable_runs(request.auth, workspace, project, list(dict.fromkeys(run_ids)))
    version = version_of(runs, VERSION, _question(request))
    page = min(MAX_SERIES, MAX_BUCKETS // buckets)
    if since is not None:
        # The client sends the state of all these series with its next request.
        page = min(page, MAX_HELD)

    def draw() -> HttpResponse:
        # One more, to find out whether there is a next page.
        requested = _page_of_pairs(runs, paths, cursor, page + 1)
        is_more = len(requested) > page
        following = _following(requested[:page], paths, cursor) if is_more else None
        lines = read_lines(
            requested[:page],
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
    """All points of each path of each run, in order of step, streamed.

    For steps that a restarted job logged again, the latest attempt's.
    """
    runs = readable_runs(request.auth, workspace, project, list(dict.fromkeys(run_ids)))
    version = version_of(runs, VERSION, _question(request))
    if is_held(request, version):
        return not_modified(version)

    requested = list(product(runs, dict.fromkeys(paths)))
    parts = read_all_points(
        requested, axis=axis, low=low, high=high, all_attempts=attempts == "all"
    )
    export = Export(written_points(parts, format))
    return marked(download(StreamingHttpResponse(export), format, "points"), version)


# Any: rows of the runs table, which endpoints do not import.
def _page_of_pairs(
    runs: Sequence[Any], paths: Sequence[str], cursor: str, limit: int
) -> list[tuple[Any, str]]:
    if not paths:
        return every_series(runs, after=_last_series(cursor), limit=limit)
    first = _passed_over(cursor)
    pairs = [(run, path) for path, run in product(dict.fromkeys(paths), runs)]
    return pairs[first : first + limit]


def _last_series(cursor: str) -> tuple[str, UUID] | None:
    if cursor == FIRST:
        return None
    run_id, colon, path = cursor.partition(":")
    if not colon:
        raise InvalidInput("cursor", NOT_OF_THIS_LIST)
    return path, UUID(run_id)


def _passed_over(cursor: str) -> int:
    if ":" in cursor:
        raise InvalidInput("cursor", NOT_OF_THIS_LIST)
    return int(cursor)


def _following(
    page: Sequence[tuple[Any, str]], paths: Sequence[str], cursor: str
) -> int | str:
    """Return the cursor of the next page.

    Requested series do not change; a live run may add series to the list of all.
    """
    if paths:
        return _passed_over(cursor) + len(page)
    run, path = page[-1]
    return f"{run.id}:{path}"


def _question(request: ApiRequest) -> list[tuple[str, list[str]]]:
    """Return the query without `since`, which must not affect the version."""
    parameters = {
        name: values for name, values in request.GET.lists() if name != "since"
    }
    return sorted(parameters.items())


def _address(request: ApiRequest, cursor: int | str) -> str:
    query = request.GET.copy()
    query["cursor"] = str(cursor)
    query.pop("since", None)
    return f"{request.path}?{query.urlencode()}"
