"""The files of a run: a list, one content, or an archive."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router, Schema

from tracker.access.runs import readable_run
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth
from tracker.api.params import LONGEST_CURSOR, LONGEST_TEXT, NO_NUL, Prefix
from tracker.files import downloads
from tracker.queries.run.files import FileRow, every_file, list_files, read_file

router = Router(tags=["files"], auth=ReaderAuth())

Path = Annotated[str, Query(min_length=1, max_length=LONGEST_TEXT, pattern=NO_NUL)]
DigestText = Annotated[
    str,
    Query(
        pattern=r"^([0-9a-f]{64})?$",
        description="Selects a content if the path has had several.",
    ),
]
Cursor = Annotated[
    str,
    Query(
        max_length=LONGEST_CURSOR,
        pattern=NO_NUL,
        description="`next` of the previous page.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=1_000, description="Maximum number of results.")]


class FileOut(Schema):
    """`digest` is the SHA-256 of the content, which may not be stored yet."""

    path: str
    name: str
    size: int
    type: str
    digest: str
    added_at: datetime
    is_stored: bool


class FilesOut(Schema):
    files: list[FileOut]
    next: str


def _binary(description: str, kind: str) -> dict[str, object]:
    schema = {"schema": {"type": "string", "format": "binary"}}
    return {"responses": {200: {"description": description, "content": {kind: schema}}}}


@router.get("/runs/{uuid:run_id}/files", response=FilesOut)
def read_files(
    request: ApiRequest,
    run_id: UUID,
    prefix: Prefix = "",
    cursor: Cursor = "",
    limit: Limit = 200,
) -> HttpResponse:
    """The run's files by path; `next` is the cursor of the next page, or empty."""
    run = readable_run(request.auth, run_id)
    page = list_files(run, prefix=prefix, cursor=cursor, limit=limit)
    return json_response(
        {"files": [file_answer(row) for row in page.files], "next": page.next}
    )


@router.get(
    "/runs/{uuid:run_id}/files/content",
    openapi_extra=_binary("The file, or a range of it", "application/octet-stream"),
)
def read_content(
    request: ApiRequest, run_id: UUID, path: Path, digest: DigestText = ""
) -> HttpResponseBase:
    """One file, always as an attachment. Supports `Range`."""
    run = readable_run(request.auth, run_id)
    return downloads.content(request, read_file(run, path, digest))


@router.get(
    "/runs/{uuid:run_id}/files/archive",
    openapi_extra=_binary("A ZIP", "application/zip"),
)
def read_archive(
    request: ApiRequest, run_id: UUID, prefix: Prefix = ""
) -> HttpResponseBase:
    """All files with this path prefix as a ZIP, created while it is sent."""
    run = readable_run(request.auth, run_id)
    below = prefix[: prefix.rfind("/") + 1]
    return downloads.archive(
        every_file(run, prefix), below=below, name=prefix.strip("/") or run.name
    )


def file_answer(row: FileRow) -> dict[str, object]:
    return {
        "path": row.path,
        "name": row.name,
        "size": row.size,
        "type": row.media_type,
        "digest": row.digest,
        "added_at": row.added_at,
        "is_stored": row.is_stored,
    }
