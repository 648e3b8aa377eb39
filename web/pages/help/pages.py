"""The documentation, as built by `manage.py docs`: the same for every visitor."""

from __future__ import annotations

import mimetypes
import os
from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from tracker.errors import NotFound
from web.pages.help.build import SITE

INDEX = "index.html"
# The name of a file below it changes with its content.
NAMED_BY_CONTENT = "assets/"
KEPT = "public, max-age=31536000, immutable"
REVALIDATED = "public, no-cache"


@require_safe
def help_page(request: HttpRequest, page: str = "") -> HttpResponse:
    """Return a file of the site; without a site, a page that explains how to build it.

    Raises:
        NotFound: The site has no such file.
    """
    if not (SITE / INDEX).is_file():
        if page:
            raise NotFound("page")
        return render(request, "help/not_built.html")
    path = _path_of(page)
    # These take a name that is too long for one of no file.
    if os.path.isdir(path):  # noqa: PTH112
        if not request.path.endswith("/"):
            return HttpResponseRedirect(f"{request.path}/")
        path /= INDEX
    if not os.path.isfile(path):  # noqa: PTH113
        raise NotFound("page")
    return _response(request, page, path)


def _path_of(page: str) -> Path:
    if "\0" in page:
        raise NotFound("page")
    path = (SITE / page).resolve()
    if not path.is_relative_to(SITE.resolve()):
        raise NotFound("page")
    return path


def _response(request: HttpRequest, page: str, path: Path) -> HttpResponse:
    status = path.stat()
    etag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
    response = get_conditional_response(request, etag=etag)
    if not isinstance(response, HttpResponse):
        kind = mimetypes.guess_type(path.name)[0] or "text/plain"
        if kind.startswith("text/") or kind in {"application/json"}:
            kind = f"{kind}; charset=utf-8"
        response = HttpResponse(path.read_bytes(), content_type=kind)
    response["ETag"] = etag
    is_kept = page.startswith(NAMED_BY_CONTENT)
    response["Cache-Control"] = KEPT if is_kept else REVALIDATED
    return response
