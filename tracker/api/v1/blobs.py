"""Accepts uploads of file contents in parts; see docs/protocol.md.

A content belongs to the workspace of the token that sent it. Contents of other
workspaces are not checked, so that uploads reveal nothing about them.
"""

from __future__ import annotations

from contextlib import closing

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from tracker.actions.files import progress_of, receive
from tracker.api.answers import json_response
from tracker.api.auth import actor_of_token
from tracker.api.bodies import body_pieces, declared_length
from tracker.errors import (
    InvalidInput,
    NotAllowed,
    NotFound,
    TooLarge,
    UnsupportedMedia,
)
from tracker.files.folder import DIGEST
from tracker.ingest.limits import LIMITS
from tracker.ingest.write import writable_workspace

CONTENT_TYPE = "application/octet-stream"
LONGEST_NUMBER = 18  # digits


# Authenticated by token only, so CSRF protection is not needed.
@csrf_exempt
@require_POST
def receive_part(request: HttpRequest, digest: str) -> HttpResponse:
    actor = actor_of_token(request)
    if not actor.may_ingest:
        raise NotAllowed("write runs")
    workspace = writable_workspace(actor)
    if not DIGEST.fullmatch(digest):
        raise NotFound("content")
    size = _number(request, "size")
    length = declared_length(request)
    if not length:
        return json_response(progress_of(workspace.id, digest, size=size))
    if request.content_type != CONTENT_TYPE:
        raise UnsupportedMedia("Content-Type", CONTENT_TYPE)
    if "HTTP_CONTENT_ENCODING" in request.META:
        raise UnsupportedMedia("Content-Encoding", "absent")
    if length > LIMITS.part_bytes:
        raise TooLarge("The body", f"{LIMITS.part_bytes} bytes")
    offset = _number(request, "offset")
    with closing(body_pieces(request, length, sender=actor.token_id)) as pieces:
        progress = receive(
            workspace.id, digest, size=size, offset=offset, pieces=pieces
        )
    return json_response(progress)


def _number(request: HttpRequest, name: str) -> int:
    text = request.GET.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise InvalidInput(name, "must be a number of bytes")
    return int(text)
