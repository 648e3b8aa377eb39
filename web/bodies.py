"""Reads form bodies, a few at a time, before other middleware.

Otherwise each client that stalls while sending would occupy a thread, until none is
left.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, UnreadablePostError

from tracker.errors import TooLarge, TrackerError
from tracker.server.body_reader import Arrivals
from tracker.server.body_timeouts import Places
from tracker.server.processes import SLOW_FORMS_AT_ONCE
from web.errors import refusal

# With those that read batches (tracker/api/bodies.py) still fewer than the threads of
# a server process, so that pages and files are always answered.
READERS = 2
WAIT_SECONDS = 0.5
LENGTH_DIGITS = 18
WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
# They read their own, and only after they know the caller.
INGEST = ("/api/v1/ingest/", "/api/v1/blobs/")

# No user is identified yet, and behind a proxy all requests share one address.
ANYBODY = None
_forms = Arrivals(
    Places(READERS, READERS),
    Places(SLOW_FORMS_AT_ONCE, SLOW_FORMS_AT_ONCE),
    wait_seconds=WAIT_SECONDS,
)


class FormBodies:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method in WITHOUT_BODY or request.path.startswith(INGEST):
            return self.get_response(request)
        try:
            # Stored like Django's own body, for later readers.
            request._body = read(request)  # noqa: SLF001
        except TrackerError as error:
            return refusal(request, error)
        except (OSError, UnreadablePostError) as error:
            raise BadRequest("The body ended before its declared length.") from error
        return self.get_response(request)


def read(request: HttpRequest) -> bytes:
    """Return the body of a form, of as many bytes as Django allows."""
    declared = request.META.get("CONTENT_LENGTH") or ""
    # Like Django, treat an invalid number as 0; LENGTH_DIGITS exceeds every limit.
    is_number = declared.isascii() and declared.isdigit()
    length = int(declared[:LENGTH_DIGITS]) if is_number else 0
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if length > limit:
        raise TooLarge("The body", f"{limit} bytes")
    return bytes(_forms.read(request, length, ANYBODY)) if length else b""
