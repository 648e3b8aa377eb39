"""HTTP caching with ETags, and an in-process cache of recent responses."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotModified,
)
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags

from tracker.server.caches import Memory

Response = TypeVar("Response", bound=HttpResponseBase)

# Cache size per server process, so that a chart that a team watches is drawn once.
MAX_BYTES = 16 * 1024 * 1024
# Repaired points may be missing from cached responses for this long.
REMEMBERED_SECONDS = 60.0
# Memory of a response besides its content.
OTHER_BYTES = 2_000

Headers: TypeAlias = dict[str, str]
RequestKey: TypeAlias = tuple[str, str, str]

# Time, content and headers of recent responses by address, accepted types and version.
_lately: Memory[RequestKey, tuple[float, bytes, Headers]] = Memory(MAX_BYTES)


def fresh_answer(
    request: HttpRequest, version: str, draw: Callable[[], HttpResponse]
) -> HttpResponse:
    """Return 304, the cached response, or the result of `draw`.

    The response depends only on the address, the accepted types and the version;
    permissions were checked before.
    """
    if is_held(request, version):
        return not_modified(version)
    key = (request.get_full_path(), request.headers.get("Accept", ""), version)
    found = answered_lately(key)
    if found is not None:
        return marked(HttpResponse(found[0], headers=found[1]), version)

    response = draw()
    # An increment of a growing chart serves one reader only.
    if not request.GET.get("since"):
        remember_answer(key, response.content, dict(response.items()))
    return marked(response, version)


def answered_lately(key: RequestKey) -> tuple[bytes, Headers] | None:
    """Return the response to the same request within the last minute, if any."""
    found = _lately.get(key)
    if found is None or time.monotonic() - found[0] >= REMEMBERED_SECONDS:
        return None
    return found[1], found[2]


def remember_answer(key: RequestKey, content: bytes, headers: Headers) -> None:
    weight = len(content) + len(key[0]) + OTHER_BYTES
    _lately.remember(key, (time.monotonic(), content, headers), weight)


def is_held(request: HttpRequest, version: str) -> bool:
    """Return whether the client's If-None-Match names this version."""
    return bool({version, "*"} & versions_held(request))


def versions_held(request: HttpRequest) -> set[str]:
    """Return the versions in the client's If-None-Match."""
    named = parse_etags(request.headers.get("If-None-Match", ""))
    return {each.removeprefix("W/").strip('"') for each in named}


def marked(response: Response, version: str) -> Response:
    """Set the ETag and the cache headers."""
    response["ETag"] = _etag(version)
    # "no-store" would stop browsers from sending the ETag. "no-cache, private" makes
    # them revalidate each time, after a permission check, and keeps proxies from
    # storing it.
    response["Cache-Control"] = "no-cache, private"
    patch_vary_headers(response, ["Accept", "Authorization", "Cookie"])
    return response


def not_modified(version: str) -> HttpResponse:
    return marked(HttpResponseNotModified(), version)


def _etag(version: str) -> str:
    # Weak: the same points may be encoded as other bytes after a compaction.
    return f'W/"{version}"'
