"""The files of a run and their stored contents."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum

from tracker.errors import InvalidInput, NotFound
from tracker.models import Blob, File, Run
from tracker.queries.run.attributes import beginning_with, storable

PAGE = 500
# Image formats that every browser supports.
PICTURE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
# Rows read per shown image: a series of images has one row for each step.
MAX_STEPS_READ = 8


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of a run; `is_stored` is true if its content has been uploaded."""

    path: str
    name: str
    digest: str
    size: int  # bytes
    media_type: str
    added_at: datetime
    is_stored: bool
    workspace_id: int


@dataclass(frozen=True, slots=True)
class FilePage:
    """Files by path, and the cursor for the next page; "" on the last page."""

    files: tuple[FileRow, ...]
    next: str


def list_files(
    run: Run, *, prefix: str = "", cursor: str = "", limit: int = PAGE
) -> FilePage:
    """Return at most `limit` files whose paths begin with `prefix`, by path."""
    return _page(list(_after(_beginning(run, prefix), cursor)[: limit + 1]), limit)


def every_file(run: Run, prefix: str = "") -> Iterator[FileRow]:
    """Yield all files whose paths begin with `prefix`, by path, read page by page."""
    cursor = ""
    while True:
        page = list_files(run, prefix=prefix, cursor=cursor)
        yield from page.files
        if not page.next:
            return
        cursor = page.next


def read_file(run: Run, path: str, digest: str = "") -> FileRow:
    """Return the latest file at a path, or raise NotFound."""
    found = _with_contents(
        File.objects.filter(run_id=run.id, path__in=storable([path]))
    )
    if digest:
        found = found.filter(digest__in=storable([digest]))
    row = found.order_by("-added_at", "-id").first()
    if row is None:
        raise NotFound("file")
    return _row(row)


def files_at(run: Run, paths: list[str]) -> dict[str, FileRow]:
    """Return the files among the paths."""
    rows = _with_contents(File.objects.filter(run_id=run.id, path__in=storable(paths)))
    return {row.path: _row(row) for row in rows.order_by("added_at", "id")}


def files_of_runs(
    runs: Collection[Run], path: str, digests: Collection[str]
) -> dict[tuple[UUID, str], FileRow]:
    """Return the contents of several runs at one path, by run and digest."""
    matching = File.objects.filter(
        run_id__in=[run.id for run in runs],
        path__in=storable([path]),
        digest__in=digests,
    )
    return {(row.run_id, row.digest): _row(row) for row in _with_contents(matching)}


def file_paths(run: Run, prefix: str = "") -> list[str]:
    """Return the paths of the run's files that begin with `prefix`, sorted."""
    return sorted({*_beginning(run, prefix).values_list("path", flat=True)})


@dataclass(frozen=True, slots=True)
class Totals:
    """The number of files, of those not uploaded yet, and their total size in bytes."""

    count: int
    absent: int
    bytes: int


def file_totals(run: Run) -> Totals:
    rows = _with_contents(File.objects.filter(run_id=run.id))
    total = rows.aggregate(
        count=Count("id"), stored=Count("stored_size"), bytes=Sum("stored_size")
    )
    return Totals(total["count"], total["count"] - total["stored"], total["bytes"] or 0)


def picture_candidates(run: Run, *, cursor: str, limit: int) -> FilePage:
    """Return uploaded files with an image media type, which may be wrong."""
    rows = _after(File.objects.filter(run_id=run.id), cursor).filter(
        Q(media_type__startswith="image/"), Q(stored_size__isnull=False)
    )
    return _page(list(rows[: limit + 1]), limit)


def latest_pictures(run: Run, *, limit: int) -> list[FileRow]:
    """Return the newest stored image of each path, the latest first."""
    rows = _with_contents(File.objects.filter(run_id=run.id)).filter(
        Q(media_type__in=PICTURE_TYPES), Q(stored_size__isnull=False)
    )
    newest: dict[str, File] = {}
    for row in rows.order_by("-added_at", "-id")[: limit * MAX_STEPS_READ]:
        newest.setdefault(row.path, row)
    return [_row(row) for row in list(newest.values())[:limit]]


def _page(rows: list[File], limit: int) -> FilePage:
    shown = rows[:limit]
    last = shown[-1] if len(rows) > limit else None
    return FilePage(
        tuple(map(_row, shown)), "" if last is None else f"{last.pk}:{last.path}"
    )


def _beginning(run: Run, prefix: str) -> QuerySet[File]:
    rows = File.objects.filter(run_id=run.id)
    if not storable([prefix]):
        return rows.none()
    return rows.filter(beginning_with(prefix)) if prefix else rows


def _after(rows: QuerySet[File], cursor: str) -> QuerySet[File]:
    ordered = _with_contents(rows).order_by("path", "id")
    if not cursor:
        return ordered
    key, colon, path = cursor.partition(":")
    if not (colon and key.isascii() and key.isdigit() and storable([path])):
        raise InvalidInput(
            "cursor", "does not belong to this list; start again without it"
        )
    return ordered.filter(Q(path__gt=path) | Q(path=path, id__gt=int(key[:18])))


def _with_contents(rows: QuerySet[File]) -> QuerySet[File]:
    contents = Blob.objects.filter(
        workspace_id=OuterRef("workspace_id"), digest=OuterRef("digest")
    )
    return rows.annotate(stored_size=Subquery(contents.values("size")[:1]))


# Any: the row has annotations.
def _row(row: Any) -> FileRow:
    is_stored = row.stored_size is not None
    return FileRow(
        path=row.path,
        name=row.name,
        digest=row.digest,
        # The size of stored content is known; otherwise the agent's value is used.
        size=row.stored_size if is_stored else row.size,
        media_type=row.media_type,
        added_at=row.added_at,
        is_stored=is_stored,
        workspace_id=row.workspace_id,
    )
