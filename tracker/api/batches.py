"""Accepts batches before Django's routing, sessions and browser headers.

A training process sends a batch every second or two from each rank, and the skipped
middleware is a large part of the work for a small batch.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING
from uuid import UUID

import orjson
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse

from tracker.api.errors import answered, unspecific
from tracker.api.v1.ingest import take_batch
from tracker.server.statements import database

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

logger = logging.getLogger(__name__)

STORED, JSON = "200 OK", ("Content-Type", "application/json")
# The address in `urls.py`; requests with other methods go through Django.
ADDRESS = re.compile(r"/api/v1/ingest/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


class Batches:
    """A WSGI application that handles batches itself and passes on everything else."""

    def __init__(self, others: WSGIApplication) -> None:
        self._others = others

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        address = ADDRESS.fullmatch(environ["PATH_INFO"])
        if address is None or environ["REQUEST_METHOD"] != "POST":
            return self._others(environ, start_response)
        try:
            receipt = take_batch(WSGIRequest(environ), UUID(address[1]))
        except Exception as error:  # noqa: BLE001 - turned into a response
            response = _refusal(error)
            status = f"{response.status_code} {response.reason_phrase}"
            headers, content = [*response.items()], response.content
        else:
            status, headers, content = STORED, [JSON], orjson.dumps(receipt)
        finally:
            # A broken connection; Django does the same after each request.
            database().close_if_unusable_or_obsolete()
        start_response(status, [*headers, ("Content-Length", str(len(content)))])
        return [content]


def _refusal(error: Exception) -> HttpResponse:
    response = answered(error)
    if response is None:
        logger.error("a batch could not be stored", exc_info=error)
        response = unspecific(HTTPStatus.INTERNAL_SERVER_ERROR)
    return response
