"""Takes batches past all that only browsers need: headers, sessions, forgery checks.

A training process sends a batch every second or two, from each of its ranks, and what
stands before the other endpoints would take longer than much that is done with it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from http import HTTPStatus
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from tracker.api.errors import answered, unspecific
from tracker.api.v1.ingest import receive_batch

logger = logging.getLogger(__name__)

# The address as `urls.py` has it; whatever else is asked of it goes the long way.
ADDRESS = re.compile(r"/api/v1/ingest/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


class Batches:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        address = ADDRESS.fullmatch(request.path_info)
        if address is None or request.method != "POST":
            return self.get_response(request)
        response = _answer(request, UUID(address[1]))
        response["Content-Length"] = str(len(response.content))
        return response


def _answer(request: HttpRequest, spool_id: UUID) -> HttpResponse:
    try:
        return receive_batch(request, spool_id)
    except Exception as error:
        response = answered(error)
        if response is None:
            logger.exception("a batch could not be stored")
            response = unspecific(HTTPStatus.INTERNAL_SERVER_ERROR)
        return response
