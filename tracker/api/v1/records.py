"""Records of a run's series: texts and histograms, by position, step, time or content."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from ninja import Query, Router, Schema

from tracker.access.runs import readable_records, readable_run
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.params import LONGEST_TEXT, NO_NUL, High, Low
from tracker.api.tables import Export
from tracker.queries.series.records import (
    Page,
    Place,
    RecordAxis,
    RecordSeries,
    find_text,
    read_page,
)
from tracker.queries.series.versions import version_of
from tracker.records.histogram import NotAHistogram, read_histogram
from tracker.records.search import plain
from tracker.records.stored_file import NotAStoredFile, read_stored_file
from tracker.server.etags import fresh_answer

router = Router(tags=["runs"], auth=ReaderAuth())

# Part of every ETag: increase it when an upgrade changes the response for the same
# records.
VERSION = 1
MAX_RECORDS = 10_000

Path = Annotated[str, Query(min_length=1, max_length=LONGEST_TEXT, pattern=NO_NUL)]
First = Annotated[
    int | None,
    Query(ge=0, le=2**53, description="Position of the first record, from 0."),
]
Last = Annotated[
    int | None,
    Query(ge=1, le=MAX_RECORDS, description="Only the last ones, at most this many."),
]
Limit = Annotated[
    int, Query(ge=1, le=MAX_RECORDS, description="Maximum number of results.")
]
Wanted = Annotated[
    str,
    Query(
        min_length=1,
        max_length=LONGEST_TEXT,
        pattern=NO_NUL,
        description="Text to find in the records, case-insensitive.",
    ),
]
UNCHANGED = {
    "responses": {
        304: {"description": "Nothing has arrived since the response with this ETag."}
    }
}
TEXT = {
    "responses": {
        200: {
            "description": "OK",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        }
    }
}


class HistogramOut(Schema):
    """One more edge than counts; `others` counts values outside all bins, such as NaN."""

    edges: list[float]
    counts: list[float]
    others: float


class StoredFileOut(Schema):
    """A file's digest; get its content from `/runs/{run_id}/files/content`.

    Boxes are `[left, top, right, bottom, label]` in pixels. `is_mask` marks a picture to
    draw over the one before it.
    """

    digest: str
    size: int
    type: str
    caption: str
    boxes: list[tuple[float, float, float, float, str]]
    is_mask: bool


class RecordsOut(Schema):
    """Columns of equal length; times are milliseconds since 1970.

    `count` is the number of records in the series, and `end` the position after the
    last one read. `next` equals `end` if more follow, and is null otherwise.
    """

    path: str
    kind: str
    count: int
    end: int
    next: int | None
    positions: list[int]
    steps: list[float]
    times: list[float]
    values: list[str | HistogramOut | StoredFileOut | None]


class FoundOut(Schema):
    """Positions of records that contain the text; all before `end` were searched."""

    path: str
    count: int
    end: int
    next: int | None
    positions: list[int]


@router.get("/runs/{uuid:run_id}/records", response=RecordsOut, openapi_extra=UNCHANGED)
def read_records(
    request: ApiRequest,
    *,
    run_id: UUID,
    path: Path,
    first: First = None,
    last: Last = None,
    limit: Limit = 1_000,
    axis: RecordAxis = "step",
    low: Low = None,
    high: High = None,
) -> HttpResponse:
    """Records of a series in the order of arrival, or those in a range of an axis.

    A response has at most 4 MiB of values. Continue from `end` to get later records.
    """
    run = readable_run(request.auth, run_id)
    version = version_of([run], VERSION, sorted(request.GET.lists()))
    # Read after the version, which must not be newer than the response.
    series = readable_records(request.auth, run, path)

    def draw() -> HttpResponse:
        start = max(0, series.count - last) if last is not None else first or 0
        page = read_page(series, start, last or limit, Place(axis, low, high))
        return json_response(page_answer(series, page))

    return fresh_answer(request, version, draw)


@router.get(
    "/runs/{uuid:run_id}/records/found", response=FoundOut, openapi_extra=UNCHANGED
)
def find_records(
    request: ApiRequest,
    *,
    run_id: UUID,
    path: Path,
    text: Wanted,
    first: First = None,
    limit: Limit = MAX_RECORDS,
) -> HttpResponse:
    """Positions of records that contain a text, ignoring terminal colors."""
    run = readable_run(request.auth, run_id)
    version = version_of([run], VERSION, sorted(request.GET.lists()))
    # Read after the version, which must not be newer than the response.
    series = readable_records(request.auth, run, path)

    def draw() -> HttpResponse:
        found = find_text(series, text, first or 0, limit)
        return json_response(
            {
                "path": series.path,
                "count": series.count,
                "end": found.end,
                "next": found.end if found.end < series.count else None,
                "positions": found.positions.tolist(),
            }
        )

    return fresh_answer(request, version, draw)


@router.get("/runs/{uuid:run_id}/records/text", openapi_extra=TEXT)
def download_text(request: ApiRequest, *, run_id: UUID, path: Path) -> HttpResponseBase:
    """All texts of a series, one per line, without terminal colors; streamed."""
    run = readable_run(request.auth, run_id)
    series = readable_records(request.auth, run, path)
    response = StreamingHttpResponse(Export(_lines(series)), content_type="text/plain")
    # An attachment, because a log may contain HTML.
    response["Content-Disposition"] = 'attachment; filename="log.txt"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def page_answer(series: RecordSeries, page: Page) -> dict[str, object]:
    return {
        "path": series.path,
        "kind": series.kind,
        "count": series.count,
        "end": page.end,
        "next": page.end if page.end < series.count else None,
        "positions": page.positions.tolist(),
        "steps": page.records.steps.tolist(),
        "times": (page.records.times / 1_000).tolist(),
        "values": values_answer(series.kind, page.records.listed()),
    }


# Any: texts, or a histogram as JSON.
def values_answer(kind: str, values: Sequence[bytes]) -> list[Any]:
    if kind == "text_series":
        return [value.decode(errors="replace") for value in values]
    if kind in ("image_series", "file_series"):
        return [_stored_file(value) for value in values]
    return [_histogram(value) for value in values]


def _stored_file(value: bytes) -> dict[str, object] | None:
    try:
        file = read_stored_file(value)
    except NotAStoredFile:
        return None
    return {
        "digest": file.digest,
        "size": file.size,
        "type": file.media_type,
        "caption": file.caption,
        "boxes": [
            (box.left, box.top, box.right, box.bottom, box.label) for box in file.boxes
        ],
        "is_mask": file.is_mask,
    }


def _histogram(value: bytes) -> dict[str, object] | None:
    try:
        histogram = read_histogram(value)
    except NotAHistogram:
        return None
    return {
        "edges": histogram.edges.tolist(),
        "counts": histogram.counts.tolist(),
        "others": histogram.others,
    }


def _lines(series: RecordSeries) -> Generator[bytes]:
    position = 0
    while position < series.count:
        page = read_page(series, position, MAX_RECORDS)
        texts = (value.decode(errors="replace") for value in page.records.listed())
        yield "".join(f"{plain(text)}\n" for text in texts).encode()
        position = page.end
