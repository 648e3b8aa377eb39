"""ETags: what a reader holds already is not read again, and not sent again."""

from __future__ import annotations

from typing import TypeVar

from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotModified,
)
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags

Response = TypeVar("Response", bound=HttpResponseBase)


def is_held(request: HttpRequest, version: str) -> bool:
    """Tell whether the reader named this version as theirs."""
    named = parse_etags(request.headers.get("If-None-Match", ""))
    return bool({_etag(version), f'"{version}"', "*"} & set(named))


def marked(response: Response, version: str) -> Response:
    """Name the version, so that the reader asks with it next time."""
    response["ETag"] = _etag(version)
    # "no-store" would have the browser ask without it; this is private all the same.
    response["Cache-Control"] = "no-cache, private"
    patch_vary_headers(response, ["Accept", "Authorization", "Cookie"])
    return response


def not_modified(version: str) -> HttpResponse:
    return marked(HttpResponseNotModified(), version)


def _etag(version: str) -> str:
    # Weak: the same points may come as other bytes, once compaction has moved them.
    return f'W/"{version}"'
