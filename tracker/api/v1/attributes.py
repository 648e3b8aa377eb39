"""What is known about a run by name."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import orjson
from django.http import HttpResponse, StreamingHttpResponse
from ninja import Query, Router, Schema

from tracker.access.objects import readable_run
from tracker.api.answers import json_response, number, value
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.params import LONGEST_TEXT, NO_NUL, Prefix
from tracker.files.downloads import Download
from tracker.files.names import attachment
from tracker.queries.run.attributes import AttributeRow, attribute_page

router = Router(tags=["runs"], auth=ReaderAuth())


# Of a file of all of them, how many are read together.
AT_ONCE = 1_000
AttributeCursor = Annotated[
    str,
    Query(
        max_length=LONGEST_TEXT,
        pattern=NO_NUL,
        description="`next` of the answer before: only what comes after this path.",
    ),
]
AttributeLimit = Annotated[
    int,
    Query(
        ge=1,
        le=10_000,
        description="How many at most; fewer are answered where their texts are long.",
    ),
]


class AttributeOut(Schema):
    """Numbers JSON cannot hold are the texts NaN, Infinity and -Infinity."""

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
    """A series' value is its last; its summary is seconds behind its points.

    It counts all points that arrived, those that a job has logged again since it was
    started again, too: until it has passed them, the last is one of an earlier attempt.

    `writers` are processes that logged to it at the same time, up to 64 of them: a step
    may have a point of each. None are listed where one wrote it, or one after the other.
    """

    count: int
    minimum: float | str | None
    maximum: float | str | None
    mean: float | str | None
    first_step: float | None
    last_step: float | None
    writers: list[WriterOut]


class RecordSeriesOut(AttributeOut):
    """The value is the beginning of the last text, and null of histograms.

    `writers` are as those of series of numbers; what each logged stands in the order in
    which it arrived.
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
    """The run's values and the summaries of its series, by path; none is cut short.

    `next` is the cursor of the others, or empty.
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
    """All of them as one file, sent while it is read."""
    run = readable_run(request.auth, run_id)
    response = StreamingHttpResponse(
        Download(_written(run, prefix)), content_type="application/json"
    )
    response["Content-Disposition"] = attachment(f"{run.name}-attributes.json")
    return response


# Any: a row of the runs table, which endpoints do not import.
def _written(run: Any, prefix: str) -> Generator[bytes]:
    """Yield the pieces of an answer; without the last of them it is no JSON."""
    yield b'{"attributes":['
    before, cursor, is_more = b"", "", True
    while is_more:
        page = attribute_page(run, prefix=prefix, cursor=cursor, limit=AT_ONCE)
        # Of a run that is being purged, a page may have lost its rows.
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
