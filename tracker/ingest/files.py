"""Writes the file references of a batch; the contents are uploaded separately."""

from __future__ import annotations

from collections.abc import Mapping

from tracker.ingest.batch import Batch
from tracker.ingest.messages import FileValue
from tracker.ingest.records import AddRecords
from tracker.ingest.spools import LockedSpool
from tracker.models import File, Project
from tracker.records.stored_file import read_stored_file

ROWS_AT_ONCE = 500
# Kinds of records that reference contents.
FILE_KINDS = ("image", "file")
# File endings of media types whose subtype is not one.
ENDINGS = {
    "audio/mpeg": "mp3",
    "audio/x-wav": "wav",
    "image/svg+xml": "svg",
    "text/plain": "txt",
    "video/quicktime": "mov",
    "application/octet-stream": "bin",
}


def write_files(spool: LockedSpool, files: Mapping[str, FileValue]) -> None:
    """Store the new files of the paths; the attribute rows are already locked."""
    if not files:
        return
    workspace_id = _workspace_of(spool)
    paths = sorted(files)
    File.objects.bulk_create(
        [_row(spool, workspace_id, path, files[path]) for path in paths],
        update_conflicts=True,
        unique_fields=["run", "path", "digest"],
        update_fields=["size", "media_type", "name", "added_at"],
        batch_size=ROWS_AT_ONCE,
    )
    # Delete replaced references; unreferenced contents are collected later.
    for low in range(0, len(paths), ROWS_AT_ONCE):
        rows = File.objects.filter(
            run_id=spool.run_id, path__in=paths[low : low + ROWS_AT_ONCE]
        )
        stale = [
            key
            for key, path, digest in rows.values_list("id", "path", "digest")
            if digest != files[path].digest
        ]
        if stale:
            File.objects.filter(id__in=stale).delete()


def write_series_files(spool: LockedSpool, batch: Batch) -> None:
    """Store the references of image and file series to their contents."""
    found: dict[tuple[str, str], FileValue] = {}
    for message in batch.messages:
        content = message.content
        if isinstance(content, AddRecords) and content.kind in FILE_KINDS:
            for step, value in zip(
                content.records.steps.tolist(), content.records.listed(), strict=True
            ):
                stored = read_stored_file(value)
                # In full precision, so that different steps have different names.
                number = int(step) if step.is_integer() else step
                name = f"{content.path.rpartition('/')[2][:200]}-{number}"
                ending = _ending(stored.media_type)
                found[content.path, stored.digest] = FileValue(
                    stored.digest, stored.size, stored.media_type, f"{name}.{ending}"
                )
    if not found:
        return
    workspace_id = _workspace_of(spool)
    File.objects.bulk_create(
        [
            _row(spool, workspace_id, path, found[path, digest])
            for path, digest in sorted(found)
        ],
        ignore_conflicts=True,
        batch_size=ROWS_AT_ONCE,
    )


def _ending(media_type: str) -> str:
    subtype = media_type.partition("/")[2].rpartition(".")[2]
    return ENDINGS.get(media_type) or subtype.replace("+", ".").removeprefix("x-")


def _workspace_of(spool: LockedSpool) -> int:
    return Project.objects.values_list("workspace_id", flat=True).get(
        id=spool.project_id
    )


def _row(spool: LockedSpool, workspace_id: int, path: str, value: FileValue) -> File:
    return File(
        run_id=spool.run_id,
        workspace_id=workspace_id,
        path=path,
        digest=value.digest,
        size=value.size,
        media_type=value.type,
        name=value.name,
    )
