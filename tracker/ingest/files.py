"""Writes what a batch says of files; their contents come by another way."""

from __future__ import annotations

from collections.abc import Mapping

from tracker.ingest.messages import FileValue
from tracker.ingest.spools import LockedSpool
from tracker.models import File, Project

ROWS_AT_ONCE = 500


def write_files(spool: LockedSpool, files: Mapping[str, FileValue]) -> None:
    """Store what each path holds from now on; the attributes' rows are locked already."""
    if not files:
        return
    workspace_id = Project.objects.values_list("workspace_id", flat=True).get(
        id=spool.project_id
    )
    paths = sorted(files)
    File.objects.bulk_create(
        [_row(spool, workspace_id, path, files[path]) for path in paths],
        update_conflicts=True,
        unique_fields=["run", "path", "digest"],
        update_fields=["size", "media_type", "name", "added_at"],
        batch_size=ROWS_AT_ONCE,
    )
    # What they held before; the contents go once nobody refers to them.
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
