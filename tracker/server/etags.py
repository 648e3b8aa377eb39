"""What a reader holds already is not sent again, what another was sent not read again."""

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

# Of answers, in each server process: a chart that a team looks at is drawn once.
MAX_BYTES = 16 * 1024 * 1024
# So damaged points that were mended, say, are missing in answers no longer than that.
REMEMBERED_SECONDS = 60.0
# Of an answer besides its content.
OTHER_BYTES = 2_000

Headers: TypeAlias = dict[str, str]
Asked: TypeAlias = tuple[str, str, str]

# By address, accepted types and version: when they were answered, and what.
_lately: Memory[Asked, tuple[float, bytes, Headers]] = Memory(MAX_BYTES)


def fresh_answer(
    request: HttpRequest, version: str, draw: Callable[[], HttpResponse]
) -> HttpResponse:
    """Answer what `draw` does, unless the reader holds it or it was answered lately.

    It depends on nothing but the address, the accepted types and the version; whether
    the reader may have it was decided before.
    """
    if is_held(request, version):
        return not_modified(version)
    asked = (request.get_full_path(), request.headers.get("Accept", ""), version)
    found = answered_lately(asked)
    if found is not None:
        return marked(HttpResponse(found[0], headers=found[1]), version)

    response = draw()
    # What one reader lacks of a chart that grows, no other will ask for.
    if not request.GET.get("since"):
        remember_answer(asked, response.content, dict(response.items()))
    return marked(response, version)


def answered_lately(asked: Asked) -> tuple[bytes, Headers] | None:
    """Return what was answered to the same question within the last minute."""
    found = _lately.get(asked)
    if found is None or time.monotonic() - found[0] >= REMEMBERED_SECONDS:
        return None
    return found[1], found[2]


def remember_answer(asked: Asked, content: bytes, headers: Headers) -> None:
    weight = len(content) + len(asked[0]) + OTHER_BYTES
    _lately.remember(asked, (time.monotonic(), content, headers), weight)


def is_held(request: HttpRequest, version: str) -> bool:
    """Tell whether the reader named this version as theirs."""
    return bool({version, "*"} & versions_held(request))


def versions_held(request: HttpRequest) -> set[str]:
    """Return the versions that the reader named as theirs."""
    named = parse_etags(request.headers.get("If-None-Match", ""))
    return {each.removeprefix("W/").strip('"') for each in named}


def marked(response: Response, version: str) -> Response:
    """Name the version, so that the reader asks with it next time."""
    response["ETag"] = _etag(version)
    # "no-store" would have the browser ask without it; who asks is looked at first, every
    # time, and no store between them keeps it.
    response["Cache-Control"] = "no-cache, private"
    patch_vary_headers(response, ["Accept", "Authorization", "Cookie"])
    return response


def not_modified(version: str) -> HttpResponse:
    return marked(HttpResponseNotModified(), version)


def _etag(version: str) -> str:
    # Weak: the same points may come as other bytes, once compaction has moved them.
    return f'W/"{version}"'
