"""File contents as responses: ranges, streamed, always as attachments.

The only exception are images, and only recognized ones; see `tracker.files.pictures`.
"""

from __future__ import annotations

import logging
import os
import re
import zipfile
from collections.abc import Generator, Iterable, Iterator
from threading import BoundedSemaphore
from typing import BinaryIO

from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)

from tracker.actions.files import blob_folder
from tracker.errors import NotFound, Unavailable
from tracker.files.names import Distinct, attachment, safe_path, with_ending
from tracker.files.pictures import HEAD_BYTES, LARGEST_BYTES, Picture, read_picture
from tracker.files.recordings import HEAD_BYTES as RECORDING_BYTES
from tracker.files.recordings import read_recording
from tracker.queries.run.files import FileRow
from tracker.server.processes import DOWNLOADS_AT_ONCE

logger = logging.getLogger(__name__)

PIECE_BYTES = 256 * 1024
# Smaller contents are sent at once, without occupying a download slot.
SMALL_BYTES = 1024 * 1024
WAIT_SECONDS = 2.0
BINARY = "application/octet-stream"
# If a browser renders it anyway: no scripts, no forms, an opaque origin.
SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'"
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
# Images are addressed by digest, so they never change.
PICTURE_SECONDS = 3600

_downloads = BoundedSemaphore(DOWNLOADS_AT_ONCE)


class Download:
    """A response streamed at the client's speed, with limited concurrency.

    A class, because closing a generator that never started runs no code of it.
    """

    def __init__(self, pieces: Generator[bytes]) -> None:
        if not _downloads.acquire(timeout=WAIT_SECONDS):
            raise Unavailable
        self._is_open = True
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._pieces)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._pieces.close()
        if self._is_open:
            self._is_open = False
            _downloads.release()


def content(request: HttpRequest, row: FileRow) -> HttpResponseBase:
    """Return a file, or the requested range of it, as an attachment."""
    etag = f'"{row.digest}"'
    if request.headers.get("If-None-Match") == etag:
        return _stored_only(HttpResponse(status=304), row)
    file = _opened(row)
    size = os.fstat(file.fileno()).st_size
    low, high = _range(request, size, etag) or (0, size)
    if low >= high and size:
        file.close()
        refused = HttpResponse(status=416, content_type=BINARY)
        refused["Content-Range"] = f"bytes */{size}"
        return _stored_only(refused, row)

    file.seek(low)
    response: HttpResponseBase
    if high - low <= SMALL_BYTES:
        with file:
            response = HttpResponse(file.read(high - low), content_type=BINARY)
    else:
        try:
            pieces = Download(_pieces(file, high - low))
        except Unavailable:
            file.close()
            raise
        response = StreamingHttpResponse(pieces, content_type=BINARY)
    response["Content-Length"] = str(high - low)
    if (low, high) != (0, size):
        response.status_code = 206
        response["Content-Range"] = f"bytes {low}-{high - 1}/{size}"
    return _stored_only(response, row)


def picture(row: FileRow) -> HttpResponse:
    """Return an image for pages; raise NotFound for anything else."""
    with _opened(row) as file:
        head = file.read(HEAD_BYTES)
        found = read_picture(head)
        if found is None or not found.may_be_shown or row.size > LARGEST_BYTES:
            raise NotFound("picture")
        response = HttpResponse(head + file.read(), content_type=found.media_type)
    response["Content-Disposition"] = "inline"
    response["Content-Security-Policy"] = SANDBOX
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Cache-Control"] = f"private, max-age={PICTURE_SECONDS}"
    return response


def recording(request: HttpRequest, row: FileRow) -> HttpResponseBase:
    """Answer with a range of a sound or video; raise NotFound for anything else.

    Players ask for the rest of a file and keep the connection open. A short answer makes
    them ask again, so that no download is held.
    """
    media_type = recording_of(row)
    if media_type is None:
        raise NotFound("sound or video")
    with _opened(row) as file:
        size = os.fstat(file.fileno()).st_size
        low, high = _range(request, size, f'"{row.digest}"') or (0, size)
        high = min(high, low + SMALL_BYTES)
        file.seek(low)
        data = file.read(max(0, high - low))
    if not data:
        response = HttpResponse(status=416, content_type=media_type)
        response["Content-Range"] = f"bytes */{size}"
        return _stored_only(response, row)
    response = HttpResponse(data, content_type=media_type)
    if (low, high) != (0, size):
        response.status_code = 206
        response["Content-Range"] = f"bytes {low}-{high - 1}/{size}"
    _stored_only(response, row)
    response["Content-Disposition"] = "inline"
    return response


def recording_of(row: FileRow) -> str | None:
    """Return the media type of a sound or video that pages play; None for others."""
    try:
        return read_recording(beginning(row, RECORDING_BYTES))
    except NotFound:
        return None


def picture_of(row: FileRow) -> Picture | None:
    """Return the image that pages show for a file, if any."""
    if not row.is_stored or row.size > LARGEST_BYTES:
        return None
    try:
        found = read_picture(beginning(row, HEAD_BYTES))
    except NotFound:
        return None
    return found if found and found.may_be_shown else None


def beginning(row: FileRow, most_bytes: int) -> bytes:
    """Return the first bytes of a file's content."""
    with _opened(row) as file:
        return file.read(most_bytes)


def archive(rows: Iterable[FileRow], *, below: str, name: str) -> HttpResponseBase:
    """Return all files with a prefix as a ZIP, created while it is sent."""
    pieces = Download(_zipped(rows, below))
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response["Content-Disposition"] = attachment(f"{name}.zip")
    response["Content-Security-Policy"] = SANDBOX
    return response


def _opened(row: FileRow) -> BinaryIO:
    try:
        if row.is_stored:
            return blob_folder().open(row.workspace_id, row.digest)
    except FileNotFoundError:
        logger.warning("the content %s is not in the data folder", row.digest)
    raise NotFound("content; it has not arrived yet")


def _range(request: HttpRequest, size: int, etag: str) -> tuple[int, int] | None:
    """Return the requested range, end exclusive; None for the whole file."""
    match = RANGE.fullmatch(request.headers.get("Range", ""))
    if match is None or request.headers.get("If-Range", etag) != etag:
        return None
    first, last = match.groups()
    if first and last and int(last) < int(first):
        return None
    if first:
        return int(first), min(int(last) + 1 if last else size, size)
    return (max(0, size - int(last)), size) if last else None


def _pieces(file: BinaryIO, length: int) -> Generator[bytes]:
    with file:
        left = length
        while left and (piece := file.read(min(PIECE_BYTES, left))):
            left -= len(piece)
            yield piece
        if left:
            # Content-Length was sent, so the client detects the missing bytes.
            logger.error("a content ended early; run `python3 manage.py doctor`")


def _stored_only(response: HttpResponseBase, row: FileRow) -> HttpResponseBase:
    response["Content-Disposition"] = attachment(row.name)
    response["Content-Security-Policy"] = SANDBOX
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = f'"{row.digest}"'
    return response


class _Sink:
    """A write-only buffer for a ZIP."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._waiting.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing to close."""

    def taken(self) -> bytes:
        data = b"".join(self._waiting)
        self._waiting.clear()
        return data


def _zipped(rows: Iterable[FileRow], below: str) -> Generator[bytes]:
    sink, distinct = _Sink(), Distinct()
    absent: list[str] = []
    try:
        # zipfile can write to an unseekable stream.
        with zipfile.ZipFile(sink, "w") as archive:
            for row in rows:
                path = with_ending(row.path[len(below) :].strip("/"), row.name)
                name = distinct.add(safe_path(path or row.name))
                try:
                    file = _opened(row)
                except NotFound:
                    absent.append(f"{name}\n")
                    continue
                entry = zipfile.ZipInfo(name, row.added_at.timetuple()[:6])
                with file, archive.open(entry, "w", force_zip64=True) as to:
                    while piece := file.read(PIECE_BYTES):
                        to.write(piece)
                        yield sink.taken()
            if absent:
                note = "These files have not arrived yet:\n" + "".join(absent)
                archive.writestr(distinct.add("NOT-ARRIVED.txt"), note)
        yield sink.taken()
    except Exception:
        # The response has started; without its end it is an invalid ZIP.
        logger.exception("an archive ended early")
        raise
