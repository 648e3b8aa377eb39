"""Takes batches before Django does what only browsers need: headers, sessions, routes.

A training process sends a batch every second or two, from each of its ranks. What
would stand before the endpoint is a good part of the work of a small one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING
from uuid import UUID

from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse

from tracker.api.errors import answered, unspecific
from tracker.api.v1.ingest import receive_batch

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

logger = logging.getLogger(__name__)

# The address as `urls.py` has it; whatever else is asked of it goes the long way.
ADDRESS = re.compile(r"/api/v1/ingest/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


class Batches:
    """A WSGI application that answers agents itself, and others through Django's."""

    def __init__(self, others: WSGIApplication) -> None:
        self._others = others

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        address = ADDRESS.fullmatch(environ["PATH_INFO"])
        if address is None or environ["REQUEST_METHOD"] != "POST":
            return self._others(environ, start_response)
        try:
            response = _answer(WSGIRequest(environ), UUID(address[1]))
        finally:
            # Those that broke; Django does the same after each request.
            close_old_connections()
        content = response.content
        start_response(
            f"{response.status_code} {response.reason_phrase}",
            [*response.items(), ("Content-Length", str(len(content)))],
        )
        return [content]


def _answer(request: HttpRequest, spool_id: UUID) -> HttpResponse:
    try:
        return receive_batch(request, spool_id)
    except Exception as error:
        response = answered(error)
        if response is None:
            logger.exception("a batch could not be stored")
            response = unspecific(HTTPStatus.INTERNAL_SERVER_ERROR)
        return response
