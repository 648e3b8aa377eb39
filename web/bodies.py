"""Reads the bodies of forms a few at a time, before anything else looks at them.

granian waits for a body for ever. A machine that dies while it sends, or means harm,
would keep a thread each time, and once all wait nobody is answered any more.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import BoundedSemaphore

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.http import HttpRequest, HttpResponse, UnreadablePostError

from tracker.errors import TooLarge, Unavailable
from web.errors import refusal

# With those that read batches (tracker/api/bodies.py) still fewer than the threads of
# a server process, so that pages and files are always answered.
READERS = 2
WAIT_SECONDS = 0.5
WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
# They read their own, and only after they know the caller.
INGEST = ("/api/v1/ingest/", "/api/v1/blobs/")

_readers = BoundedSemaphore(READERS)


class FormBodies:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method in WITHOUT_BODY or request.path.startswith(INGEST):
            return self.get_response(request)

        if not _readers.acquire(timeout=WAIT_SECONDS):
            return refusal(request, Unavailable())
        try:
            # Django keeps it, within its own limit, for whoever asks from here on.
            _ = request.body
        except RequestDataTooBig:
            limit = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes"
            return refusal(request, TooLarge("The body", limit))
        except UnreadablePostError as error:
            raise BadRequest("The body ended before its declared length.") from error
        finally:
            _readers.release()
        return self.get_response(request)
