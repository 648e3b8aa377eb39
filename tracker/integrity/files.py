"""Checks that file contents exist and match their digests."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tracker.actions.files import blob_folder
from tracker.files.folder import READ_BYTES, BlobFolder
from tracker.integrity.problem import Problem, Severity
from tracker.models import Blob, File

ROWS_AT_ONCE = 1_000
# A content exists shortly before its row is visible.
KEPT_SECONDS = 60.0
AGAIN = (
    "nothing, if an agent still has the file and uploads it again; or restore it from a "
    "backup of the data folder"
)


@dataclass(frozen=True, slots=True)
class Content:
    """A content according to its row."""

    workspace_id: int
    digest: str
    size: int

    @property
    def place(self) -> str:
        return f"content {self.digest} of workspace {self.workspace_id}"


def file_problems(*, reads: bool) -> Iterator[Problem]:
    """Compare rows with the data folder and, if `reads`, verify all digests."""
    folder = blob_folder()
    known: set[tuple[int, str]] = set()
    rows = Blob.objects.order_by("id").values_list("workspace_id", "digest", "size")
    for row in rows.iterator(ROWS_AT_ONCE):
        content = Content(*row)
        known.add(row[:2])
        yield from _content_problems(folder, content, reads=reads)
    before = time.time() - KEPT_SECONDS
    strays = [
        digest
        for owner, digest, changed_at in folder.contents()
        if (owner, digest) not in known and changed_at < before
    ]
    if strays:
        yield Problem(
            Severity.NOTE,
            "file-strays",
            "files",
            f"{len(strays):,} contents have no row, {strays[0]} among them",
            "nothing: the worker deletes them within two days",
        )


def _content_problems(
    folder: BlobFolder, content: Content, *, reads: bool
) -> Iterator[Problem]:
    try:
        with folder.open(content.workspace_id, content.digest) as file:
            size = file.seek(0, 2)
            if size != content.size:
                what = f"it has {size:,} bytes, expected {content.size:,}"
                yield _damaged(content, what)
            elif reads:
                file.seek(0)
                total = hashlib.sha256()
                while data := file.read(READ_BYTES):
                    total.update(data)
                if total.hexdigest() != content.digest:
                    yield _damaged(content, "its content does not match its digest")
    except FileNotFoundError:
        if not _has_row(content):
            return  # deleted concurrently
        yield Problem(
            Severity.ERROR,
            "file-missing",
            _named(content),
            "it is not in the data folder",
            AGAIN,
        )
    except OSError as error:
        yield Problem(
            Severity.ERROR,
            "file-unreadable",
            _named(content),
            f"it cannot be read: {error.strerror}",
            "check the disk and the permissions of the data folder",
        )


def _has_row(content: Content) -> bool:
    return Blob.objects.filter(
        workspace_id=content.workspace_id, digest=content.digest
    ).exists()


def _damaged(content: Content, what: str) -> Problem:
    return Problem(
        Severity.ERROR,
        "file-damaged",
        _named(content),
        what,
        "restore it from a backup of the data folder, or delete it there, so that an "
        "agent can upload it again",
    )


def _named(content: Content) -> str:
    """Return where a content is used, if known."""
    row = (
        File.objects.filter(workspace_id=content.workspace_id, digest=content.digest)
        .select_related("run")
        .first()
    )
    if row is None:
        return content.place
    return f"run {row.run.name} ({row.run_id}), {row.path}, {content.place}"
