"""Accepts reports of processes that ended without reporting it themselves."""

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
    int, Query(ge=1, le=HIGHEST_NUMBER, description="The last known frame.")
]
WrittenAt = Annotated[
    int,
    Query(ge=0, le=LATEST_TIME, description="Its time: µs since 1970."),
]


@router.post("/ingest/{uuid:spool_id}/gone", response=ReceiptOut)
def receive_gone(
    request: ApiRequest, spool_id: UUID, after: After, time: WrittenAt
) -> HttpResponse:
    """Mark a spool's process as crashed, unless it has sent later frames."""
    if not request.auth.may_ingest:
        raise NotAllowed("write runs")
    return json_response(note_gone(request.auth, spool_id, after=after, time=time))
