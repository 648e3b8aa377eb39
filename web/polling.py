"""Polling parts of a page; unchanged ones are not sent again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from tracker.server.etags import is_held, marked, not_modified, versions_held

# Seconds between polls of parts that rarely change: an ended run may be resumed, which
# needs no immediate update.
SELDOM = 60


def poll_answer(request: HttpRequest, text: str, *, alike: str = "") -> HttpResponse:
    """Answer a poll with the part, or 304 if it equals the client's version.

    `alike` is the text without parts that the page updates itself, such as durations.
    """
    version = _digest(alike or text)
    if is_held(request, version):
        return _kept_by_page(not_modified(version))
    return _part(text, version)


def poll_unless(
    request: HttpRequest, question: object, draw: Callable[[], str]
) -> HttpResponse:
    """Answer a poll by drawing the part only if its data may have changed.

    `question` is everything that the part depends on, cheap to read: the part is not
    drawn while its `repr` is unchanged. An unchanged result is not sent.
    """
    question_digest = _digest(repr(question))
    versions = versions_held(request)
    for version in versions:
        if version.startswith(f"{question_digest}-"):
            return _kept_by_page(not_modified(version))
    text = draw()
    text_digest = _digest(text)
    version = f"{question_digest}-{text_digest}"
    if any(each.endswith(f"-{text_digest}") for each in versions):
        return _kept_by_page(not_modified(version))
    return _part(text, version)


def seconds_between(every: int, *, soon: bool, seldom: bool) -> int:
    """Return the poll interval of a part that may change `soon` or `seldom`; 0: never."""
    if soon:
        return every
    return SELDOM if seldom else 0


def wait_answer(*, is_there: bool) -> HttpResponse:
    """Answer a page that waits for an event: no content, or a reload."""
    response = HttpResponse(status=204)
    if is_there:
        response["HX-Refresh"] = "true"
    return response


def _part(text: str, version: str) -> HttpResponse:
    response = marked(HttpResponse(text), version)
    # The whole page may have the same address; a browser that goes back shall not find
    # a part of it there.
    patch_vary_headers(response, ["HX-Request"])
    return _kept_by_page(response)


def _kept_by_page(response: HttpResponse) -> HttpResponse:
    """Forbid browser caching: the page itself sends the version that it has."""
    response["Cache-Control"] = "no-store"
    return response


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
