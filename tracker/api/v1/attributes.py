"""What is known about a run by name."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.http import HttpResponse
from ninja import Router, Schema

from tracker.access import readable_run
from tracker.api.answers import json_response, number, value
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.params import Prefix
from tracker.queries.attributes import AttributeRow, list_attributes

router = Router(tags=["runs"], auth=ReaderAuth())


class AttributeOut(Schema):
    """Numbers JSON cannot hold are the texts NaN, Infinity and -Infinity."""

    path: str
    kind: str
    value: float | int | bool | str | list[str] | None
    updated_at: datetime


class SeriesSummaryOut(AttributeOut):
    """A series' value is its last; its summary is seconds behind its points."""

    count: int
    minimum: float | str | None
    maximum: float | str | None
    mean: float | str | None
    first_step: float | None
    last_step: float | None


class RecordSeriesOut(AttributeOut):
    """The value is the beginning of the last text, and null of histograms."""

    count: int
    first_step: float | None
    last_step: float | None


class AttributesOut(Schema):
    attributes: list[SeriesSummaryOut | RecordSeriesOut | AttributeOut]


@router.get("/runs/{uuid:run_id}/attributes", response=AttributesOut)
def read_attributes(
    request: ApiRequest, run_id: UUID, prefix: Prefix = ""
) -> HttpResponse:
    """The run's values and the summaries of its series, by path."""
    run = readable_run(request.auth, run_id)
    rows = list_attributes(run, prefix=prefix)
    return json_response({"attributes": [attribute_answer(row) for row in rows]})


def attribute_answer(row: AttributeRow) -> dict[str, object]:
    attribute = {
        "path": row.path,
        "kind": row.kind,
        "value": value(row.value),
        "updated_at": row.updated_at,
    }
    if row.kind in ("text_series", "histogram_series"):
        return attribute | {
            "count": row.count,
            "first_step": row.first_step,
            "last_step": row.last_step,
        }
    if row.kind != "float_series":
        return attribute
    return attribute | {
        "count": row.count,
        "minimum": number(row.minimum),
        "maximum": number(row.maximum),
        "mean": number(row.mean),
        "first_step": row.first_step,
        "last_step": row.last_step,
    }
