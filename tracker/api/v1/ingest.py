"""Accepts batches from agents; docs/protocol.md defines requests and responses."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from tracker.api.answers import json_response
from tracker.api.auth import actor_of_token, remembered_actor
from tracker.api.bodies import read_body
from tracker.errors import NotAllowed, TrackerError, UnsupportedMedia
from tracker.ingest.admission import Admission
from tracker.ingest.limits import LIMITS
from tracker.ingest.write import Receipt, store_batch
from tracker.queries.backlog import read_backlog

CONTENT_TYPE = "application/vnd.seamark.frames"

_admission = Admission(lambda: read_backlog().points)


# Authenticated by token only, so CSRF protection is not needed.
@csrf_exempt
@require_POST
def receive_batch(request: HttpRequest, spool_id: UUID) -> HttpResponse:
    return json_response(take_batch(request, spool_id))


def take_batch(request: HttpRequest, spool_id: UUID) -> Receipt:
    """Store the batch of a request; raise a TrackerError if it is rejected."""
    remembered = remembered_actor(request)
    actor = remembered or actor_of_token(request)
    if not actor.may_ingest:
        raise NotAllowed("write runs")
    # A heartbeat has no body, and some clients then send no content type.
    if request.content_type not in (CONTENT_TYPE, ""):
        raise UnsupportedMedia("Content-Type", CONTENT_TYPE)
    confirm = partial(actor_of_token, request) if remembered else None
    with _admission.admitted(actor.token_id) as admitted:
        try:
            body = read_body(
                request,
                sender=actor.token_id,
                sent_bytes=LIMITS.body_bytes,
                unpacked_bytes=LIMITS.unpacked_bytes,
                aside=admitted.aside,
            )
            _admission.note(actor.token_id, len(body))
            return store_batch(actor, spool_id, body, confirm=confirm)
        except TrackerError:
            # An invalid token takes precedence over errors of the body.
            if confirm is not None:
                confirm()
            raise
