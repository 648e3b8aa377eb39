"""Hears of processes that are gone and could not say how they ended."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router

from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, WriterAuth
from tracker.api.plain_views import ReceiptOut
from tracker.errors import NotAllowed
from tracker.ingest.frames import HIGHEST_NUMBER
from tracker.ingest.gone import note_gone
from tracker.ingest.storable import LATEST_TIME

router = Router(tags=["agents"], auth=WriterAuth())

After = Annotated[
    int, Query(ge=1, le=HIGHEST_NUMBER, description="The last frame known of it.")
]
WrittenAt = Annotated[
    int,
    Query(ge=0, le=LATEST_TIME, description="When it was written: µs since 1970."),
]


@router.post("/ingest/{uuid:spool_id}/gone", response=ReceiptOut)
def receive_gone(
    request: ApiRequest, spool_id: UUID, after: After, time: WrittenAt
) -> HttpResponse:
    """Note that a spool's process is gone, unless it said more than is known of it."""
    if not request.auth.may_ingest:
        raise NotAllowed("write runs")
    return json_response(note_gone(request.auth, spool_id, after=after, time=time))
