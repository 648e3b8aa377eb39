"""The files of a run, and where their contents are."""

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
# Formats that every browser draws.
PICTURE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
# Rows read per shown picture: a series of pictures has one row for each step.
MAX_STEPS_READ = 8


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of a run; `is_stored` is whether its content is here."""

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
    """Some files by path, and where the next begin; "" where these are the last."""

    files: tuple[FileRow, ...]
    next: str


def list_files(
    run: Run, *, prefix: str = "", cursor: str = "", limit: int = PAGE
) -> FilePage:
    """Return files whose paths begin so, by path, and no more than the limit."""
    return _page(list(_after(_beginning(run, prefix), cursor)[: limit + 1]), limit)


def every_file(run: Run, prefix: str = "") -> Iterator[FileRow]:
    """Yield all files whose paths begin so, by path, read page by page."""
    cursor = ""
    while True:
        page = list_files(run, prefix=prefix, cursor=cursor)
        yield from page.files
        if not page.next:
            return
        cursor = page.next


def read_file(run: Run, path: str, digest: str = "") -> FileRow:
    """Return the file at a path, of several the latest, or raise NotFound."""
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
    """Return those of the paths that are files."""
    rows = _with_contents(File.objects.filter(run_id=run.id, path__in=storable(paths)))
    return {row.path: _row(row) for row in rows.order_by("added_at", "id")}


def files_of_runs(
    runs: Collection[Run], path: str, digests: Collection[str]
) -> dict[tuple[UUID, str], FileRow]:
    """Return the contents that several runs have at one path, by run and digest."""
    wanted = File.objects.filter(
        run_id__in=[run.id for run in runs],
        path__in=storable([path]),
        digest__in=digests,
    )
    return {(row.run_id, row.digest): _row(row) for row in _with_contents(wanted)}


def file_paths(run: Run, prefix: str = "") -> list[str]:
    """Return the paths of the run's files that begin so, sorted."""
    return sorted({*_beginning(run, prefix).values_list("path", flat=True)})


@dataclass(frozen=True, slots=True)
class Totals:
    """How many files there are, how many of them have not arrived, and their bytes."""

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
    """Return files that have arrived and say that they are pictures; some may be none."""
    rows = _after(File.objects.filter(run_id=run.id), cursor).filter(
        Q(media_type__startswith="image/"), Q(stored_size__isnull=False)
    )
    return _page(list(rows[: limit + 1]), limit)


def latest_pictures(run: Run, *, limit: int) -> list[FileRow]:
    """Return the newest stored picture of each path, the latest first."""
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
        raise InvalidInput("cursor", "is not one of this list; start again without it")
    return ordered.filter(Q(path__gt=path) | Q(path=path, id__gt=int(key[:18])))


def _with_contents(rows: QuerySet[File]) -> QuerySet[File]:
    contents = Blob.objects.filter(
        workspace_id=OuterRef("workspace_id"), digest=OuterRef("digest")
    )
    return rows.annotate(stored_size=Subquery(contents.values("size")[:1]))


# Any: the row has what was annotated.
def _row(row: Any) -> FileRow:
    is_stored = row.stored_size is not None
    return FileRow(
        path=row.path,
        name=row.name,
        digest=row.digest,
        # Whatever an agent said, the content is as long as it is.
        size=row.stored_size if is_stored else row.size,
        media_type=row.media_type,
        added_at=row.added_at,
        is_stored=is_stored,
        workspace_id=row.workspace_id,
    )
