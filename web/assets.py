"""Serves scripts, styles and symbols compressed, without a build step.

A file that ships with a compressed copy, such as Plotly, is sent as that copy. All
other texts are compressed once per content and cached in the data folder: those of our
own pages at server start, others at the first request.

Pages link to addresses with a version of all files, which browsers cache until the
version changes. Relative addresses within the files stay in that version. A page that
is open during an upgrade gets the current files under its old addresses.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from typing import Any
from wsgiref.headers import Headers

import brotli
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

TEXTS = {".js", ".css", ".svg"}
# Below this size the headers outweigh the savings.
SMALLEST_BYTES = 500
# The first request waits for the compression: milliseconds here, seconds at best
# quality for large files such as Swagger's.
BROTLI_QUALITY, BROTLI_QUALITY_OF_LARGE, GZIP_LEVEL = 11, 9, 9
LARGE_BYTES = 200_000
ENCODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "br": (
        ".br",
        lambda content: bytes(brotli.compress(content, quality=_quality(content))),
    ),
    "gzip": (".gz", lambda content: gzip.compress(content, GZIP_LEVEL, mtime=0)),
}
# A page names some eighty of these: their first reader would wait for half a second of
# compressing. Swagger's, and htmx's extensions, are named by few pages or none.
PACKED_AHEAD = ("web/", "django_htmx/htmx-4.min.js")
VERSION_CHARACTERS = 12
WITH_VERSION = re.compile(rf"(/static)/([0-9a-f]{{{VERSION_CHARACTERS}}})(/.+)")
FOUND = {HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.NOT_MODIFIED}
KEPT = "public, max-age=31536000, immutable"


@cache
def version() -> str:
    """Return a digest of all assets, found once by each process."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in sorted(finder.list([]), key=lambda found: found[0]):
            digest.update(name.encode())
            with storage.open(name) as file:
                digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()[:VERSION_CHARACTERS]


class Versioned(StaticFilesStorage):
    def url(self, name: str | None) -> str:
        return str(super().url(f"{version()}/{name}"))


class Assets(WhiteNoiseMiddleware):  # type: ignore[misc] # WhiteNoise has no types
    def __init__(
        self, get_response: Callable[[HttpRequest], HttpResponse], **options: Any
    ) -> None:
        # Texts without a cached twin yet, by address.
        self._unpacked: dict[str, str] = {}
        super().__init__(get_response, **options)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        named = WITH_VERSION.fullmatch(request.path_info)
        if named:
            request.path_info = named[1] + named[3]
        path = self._unpacked.pop(request.path_info, None)
        if path is not None:
            self.files[request.path_info] = self._packed(path, request.path_info)
        response: HttpResponse = super().__call__(request)
        if named and named[2] == version() and response.status_code in FOUND:
            response["Cache-Control"] = KEPT
        return response

    def get_static_file(
        self, path: str, url: str, stat_cache: dict[str, os.stat_result] | None = None
    ) -> StaticFile:
        file = super().get_static_file(path, url, stat_cache)
        has_twins = len(file.alternatives) > 1
        if Path(path).suffix in TEXTS and not has_twins:
            self._unpacked[url] = path
        return file

    def _packed(self, path: str, url: str) -> StaticFile:
        headers = Headers([])
        self.add_mime_headers(headers, path, url)
        self.add_cache_headers(headers, path, url)
        encodings = _encodings(Path(path).read_bytes())
        return StaticFile(path, headers.items(), encodings=encodings)


def pack_ahead_beside() -> None:
    """Pack ahead while the server answers already, which never waits for it."""
    Thread(target=pack_ahead, name="pack-ahead", daemon=True).start()


def pack_ahead() -> None:
    """Compress the files that pages link to, if not done yet.

    Only one server process does it. A full disk is retried at the next start.
    """
    with suppress(OSError):
        folder = _twins()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for content in _named_by_pages():
                _encodings(content)


def _named_by_pages() -> Iterator[bytes]:
    for finder in get_finders():
        for name, storage in finder.list([]):
            if name.startswith(PACKED_AHEAD) and Path(name).suffix in TEXTS:
                with storage.open(name) as file:
                    yield file.read()


def _twins() -> Path:
    return Path(settings.DATA_FOLDER) / "assets"


def _encodings(content: bytes) -> dict[str, str]:
    """Return where the twins of a text are, which are made unless they are there."""
    if len(content) < SMALLEST_BYTES:
        return {}
    name = hashlib.sha256(content).hexdigest()[:32]
    return {
        encoding: str(_made(_twins() / f"{name}{ending}", content, compress))
        for encoding, (ending, compress) in ENCODINGS.items()
    }


def _quality(content: bytes) -> int:
    return BROTLI_QUALITY if len(content) < LARGE_BYTES else BROTLI_QUALITY_OF_LARGE


def _made(twin: Path, content: bytes, compress: Callable[[bytes], bytes]) -> Path:
    """Return the twin, made unless it was before, or by another process."""
    if not twin.exists():
        twin.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=twin.parent, delete=False) as file:
            file.write(compress(content))
        Path(file.name).replace(twin)
    return twin
