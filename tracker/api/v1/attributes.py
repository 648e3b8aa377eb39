"""The attributes of a run."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import orjson
from django.http import HttpResponse, StreamingHttpResponse
from ninja import Query, Router, Schema

from tracker.access.runs import readable_run
from tracker.api.answers import json_response, number, value
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.params import LONGEST_TEXT, NO_NUL, Prefix
from tracker.files.downloads import Download
from tracker.files.names import attachment
from tracker.queries.run.attributes import AttributeRow, attribute_page

router = Router(tags=["runs"], auth=ReaderAuth())


# Rows per query when all attributes are exported.
AT_ONCE = 1_000
AttributeCursor = Annotated[
    str,
    Query(
        max_length=LONGEST_TEXT,
        pattern=NO_NUL,
        description="`next` of the previous page: only later paths.",
    ),
]
AttributeLimit = Annotated[
    int,
    Query(
        ge=1,
        le=10_000,
        description="Maximum number of results; fewer if their texts are long.",
    ),
]


class AttributeOut(Schema):
    """Numbers that JSON cannot represent are the strings NaN, Infinity and -Infinity."""

    path: str
    kind: str
    value: float | int | bool | str | list[str] | None
    updated_at: datetime


class WriterOut(Schema):
    """A process of the run."""

    rank: int
    stage: str
    host: str
    process: int


class SeriesSummaryOut(AttributeOut):
    """A series' value is its last; the summary lags its points by seconds.

    It counts all received points, including those that a restarted job has logged
    again: until the job has passed them, the last value is one of an earlier attempt.

    `writers` are up to 64 processes that logged to the series concurrently, so that a
    step may have a point of each. The list is empty for one writer at a time.
    """

    count: int
    minimum: float | str | None
    maximum: float | str | None
    mean: float | str | None
    first_step: float | None
    last_step: float | None
    writers: list[WriterOut]


class RecordSeriesOut(AttributeOut):
    """The value is the beginning of the last text, and null for histograms.

    `writers` are as for series of numbers; records are in the order of arrival.
    """

    count: int
    first_step: float | None
    last_step: float | None
    writers: list[WriterOut]


class AttributesOut(Schema):
    attributes: list[SeriesSummaryOut | RecordSeriesOut | AttributeOut]
    next: str


@router.get("/runs/{uuid:run_id}/attributes", response=AttributesOut)
def read_attributes(
    request: ApiRequest,
    run_id: UUID,
    prefix: Prefix = "",
    cursor: AttributeCursor = "",
    limit: AttributeLimit = 1_000,
) -> HttpResponse:
    """The run's values and series summaries, by path, untruncated.

    `next` is the cursor of the next page, or empty.
    """
    run = readable_run(request.auth, run_id)
    page = attribute_page(run, prefix=prefix, cursor=cursor, limit=limit)
    return json_response(
        {"attributes": [attribute_answer(row) for row in page.rows], "next": page.next}
    )


@router.get("/runs/{uuid:run_id}/attributes/all", response=AttributesOut)
def read_all_attributes(
    request: ApiRequest, run_id: UUID, prefix: Prefix = ""
) -> StreamingHttpResponse:
    """All attributes as one file, streamed."""
    run = readable_run(request.auth, run_id)
    response = StreamingHttpResponse(
        Download(_written(run, prefix)), content_type="application/json"
    )
    response["Content-Disposition"] = attachment(f"{run.name}-attributes.json")
    return response


# Any: a row of the runs table, which endpoints do not import.
def _written(run: Any, prefix: str) -> Generator[bytes]:
    """Yield the pieces of the JSON response."""
    yield b'{"attributes":['
    before, cursor, is_more = b"", "", True
    while is_more:
        page = attribute_page(run, prefix=prefix, cursor=cursor, limit=AT_ONCE)
        # A page of a run that is being purged may be empty.
        if page.rows:
            yield before + _joined(page.rows)
            before = b","
        cursor, is_more = page.next, bool(page.next)
    yield b'],"next":""}'


def _joined(rows: Iterable[AttributeRow]) -> bytes:
    return b",".join(orjson.dumps(attribute_answer(row)) for row in rows)


def attribute_answer(row: AttributeRow) -> dict[str, object]:
    attribute = {
        "path": row.path,
        "kind": row.kind,
        "value": value(row.value),
        "updated_at": row.updated_at,
    }
    if not row.kind.endswith("_series"):
        return attribute
    series = {
        "count": row.count,
        "first_step": row.first_step,
        "last_step": row.last_step,
        "writers": [writer._asdict() for writer in row.writers],
    }
    if row.kind != "float_series":
        return attribute | series
    numbers = {
        "minimum": number(row.minimum),
        "maximum": number(row.maximum),
        "mean": number(row.mean),
    }
    return attribute | series | numbers
