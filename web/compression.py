"""Compresses text responses for clients that accept it.

Django's middleware supports only gzip at one level, and does not flush streamed parts.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable

import zstandard
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

# Below this, a packet more or less is all that could be saved.
MIN_BYTES = 1_000
ZSTD_LEVEL, GZIP_LEVEL = 3, 4
TEXTS = ("text/", "application/json", "application/problem+json", "image/svg+xml")
WEAK = "W/"

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    # A compressor of one's own each time: threads may not share one.
    "zstd": lambda content: zstandard.compress(content, ZSTD_LEVEL),
    "gzip": lambda content: gzip.compress(content, GZIP_LEVEL, mtime=0),
}


class Compression:
    """Compresses whole answers; those that are streamed go as they are made."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if isinstance(response, HttpResponse) and _is_worth_it(response):
            _compress(response, request.headers.get("Accept-Encoding", ""))
        return response


def accepted_encoding(accepted: str) -> str:
    """Return the first supported encoding that the header accepts; "" if none."""
    taken = {name for part in accepted.lower().split(",") if (name := _taken(part))}
    return next((name for name in ENCODERS if name in taken), "")


def _taken(part: str) -> str:
    """Return the encoding that a part of the header names, "" if not to be sent."""
    name, _, parameter = part.partition(";")
    try:
        weight = float(parameter.strip().removeprefix("q=") or 1)
    except ValueError:
        return ""
    return name.strip() if weight > 0 else ""


def _is_worth_it(response: HttpResponse) -> bool:
    if len(response.content) < MIN_BYTES or "Content-Encoding" in response:
        return False
    return response.get("Content-Type", "").startswith(TEXTS)


def _compress(response: HttpResponse, accepted: str) -> None:
    patch_vary_headers(response, ("Accept-Encoding",))
    encoding = accepted_encoding(accepted)
    if not encoding:
        return
    response.content = ENCODERS[encoding](response.content)
    response["Content-Encoding"] = encoding
    response["Content-Length"] = str(len(response.content))
    tag = response.get("ETag", "")
    if tag and not tag.startswith(WEAK):
        response["ETag"] = WEAK + tag
