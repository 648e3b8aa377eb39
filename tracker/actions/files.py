"""Receives file contents in parts, and deletes contents without references.

A content's row means that its file is complete and verified. Row and file are created
and deleted under the same lock, so that a content uploaded while it is being deleted
exists afterwards.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from tracker.errors import (
    DigestDiffers,
    InvalidInput,
    NoRoom,
    OutOfOrder,
    TooLarge,
    Unavailable,
)
from tracker.files.folder import Arriving, BlobFolder, InUse
from tracker.models import Blob, File, Upload, Workspace

# An agent may upload a content long before a reference to it arrives, or skip the
# upload because the content exists; a partial content only serves its own upload.
GRACE = timedelta(days=1)
# How often the time of an upload's last part is written.
LAST_PART_RESOLUTION = timedelta(hours=1)
# Reserved for the database, if it is on the same disk.
MIN_FREE_BYTES = 512 * 1024 * 1024
COLLECTED_AT_ONCE = 1_000
SHARDS = 256


@dataclass(frozen=True, slots=True)
class Progress:
    """The received bytes of a content, and whether it is complete and verified."""

    received: int
    is_stored: bool


def blob_folder() -> BlobFolder:
    return BlobFolder(settings.DATA_FOLDER / "files")


def progress_of(workspace_id: int, digest: str, *, size: int) -> Progress:
    """Return the progress of an upload; keep an existing content for another day."""
    _check_size(size)
    if _is_kept(workspace_id, digest):
        return Progress(size, is_stored=True)
    folder = blob_folder()
    received = folder.received(workspace_id, digest)
    if received < size:
        return Progress(received, is_stored=False)
    # Complete, but the process that received the last part died before verifying it.
    return receive(workspace_id, digest, size=size, offset=received, pieces=())


def receive(
    workspace_id: int, digest: str, *, size: int, offset: int, pieces: Iterable[bytes]
) -> Progress:
    """Append the part that begins at `offset`; verify and store a complete content."""
    _check_size(size)
    if _is_kept(workspace_id, digest):
        return Progress(size, is_stored=True)
    folder = blob_folder()
    _check_disk(size - offset)
    _reserve(workspace_id, digest, size)
    try:
        with folder.arriving(workspace_id, digest) as content:
            if content.length != offset:
                raise OutOfOrder(content.length)
            for piece in pieces:
                if content.length + len(piece) > size:
                    raise InvalidInput("size", "is less than was sent")
                content.add(piece)
            if content.length < size:
                return Progress(content.length, is_stored=False)
            return _checked(workspace_id, digest, content)
    except InUse as error:
        raise Unavailable from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoRoom("The server's disk is full") from error
        raise


def collect(*, seconds: float) -> int:
    """Delete unreferenced contents within the time limit; return their number."""
    deadline = time.monotonic() + seconds
    before = timezone.now() - GRACE
    blob_folder().sweep(before=before.timestamp())
    # After the file, so that bytes on disk are always counted.
    Upload.objects.filter(last_part_at__lt=before - LAST_PART_RESOLUTION).delete()
    unused = _unused(before).values_list("id", "workspace_id", "digest")
    count = 0
    for key, workspace_id, digest in unused[:COLLECTED_AT_ONCE]:
        if time.monotonic() > deadline:
            break
        # Checked again in the statement: a reference may have been added since.
        deleted, _ = _unused(before).filter(id=key).delete()
        if deleted:
            _remove_unknown(workspace_id, digest)
            count += 1
    return count


def remove_strays(shard: int) -> int:
    """Delete contents without a row in one of the 256 shards; return their number.

    A server killed between two steps leaves them.
    """
    before = (timezone.now() - GRACE).timestamp()
    count = 0
    for workspace_id, digest, changed_at in blob_folder().contents(f"{shard:02x}"):
        known = Blob.objects.filter(workspace_id=workspace_id, digest=digest)
        if changed_at < before and not known.exists():
            count += _remove_unknown(workspace_id, digest)
    return count


def used_bytes(workspace_id: int, *, without: str = "") -> int:
    """Return the size of all files and unfinished uploads except one digest."""
    return sum(
        kind.objects.filter(workspace_id=workspace_id)
        .exclude(digest=without)
        .aggregate(total=Sum("size", default=0))["total"]
        for kind in (Blob, Upload)
    )


def _checked(workspace_id: int, digest: str, content: Arriving) -> Progress:
    found = content.digest()
    if found is None:
        # The next request continues from here.
        return Progress(content.length, is_stored=False)
    if found != digest:
        content.discard()
        _uploads(workspace_id, digest).delete()
        raise DigestDiffers
    content.sync()
    now = timezone.now()
    with _exclusive(workspace_id, digest):
        Blob.objects.bulk_create(
            [
                Blob(
                    workspace_id=workspace_id,
                    digest=digest,
                    size=content.length,
                    asked_at=now,
                )
            ],
            update_conflicts=True,
            unique_fields=["workspace", "digest"],
            update_fields=["size", "asked_at"],
        )
        _uploads(workspace_id, digest).delete()
        blob_folder().keep(workspace_id, digest)
    return Progress(content.length, is_stored=True)


def _is_kept(workspace_id: int, digest: str) -> bool:
    rows = Blob.objects.filter(workspace_id=workspace_id, digest=digest)
    if not rows.exists():
        return False
    try:
        blob_folder().open(workspace_id, digest).close()
    except FileNotFoundError:
        # Deleted by hand, or missing in the backup: the next upload restores it.
        return False
    # False if it was deleted just now.
    return bool(rows.update(asked_at=timezone.now()))


def _check_size(size: int) -> None:
    if size > settings.LARGEST_FILE_BYTES:
        raise TooLarge("The file", f"{settings.LARGEST_FILE_BYTES} bytes")


def _check_disk(size: int) -> None:
    if blob_folder().free_bytes() - size < MIN_FREE_BYTES:
        raise NoRoom("The server's disk is nearly full")


def _reserve(workspace_id: int, digest: str, size: int) -> None:
    """Count the whole upload against the workspace's quota before it starts."""
    limit = settings.WORKSPACE_FILE_BYTES
    now = timezone.now()
    reserved = _uploads(workspace_id, digest)
    recent = reserved.filter(last_part_at__gt=now - LAST_PART_RESOLUTION)
    if not limit or recent.filter(size__gte=size).exists():
        return
    with transaction.atomic():
        # Serialized, so that two uploads cannot share the last free bytes.
        Workspace.objects.select_for_update(no_key=True).get(id=workspace_id)
        reserved_bytes = reserved.aggregate(total=Sum("size", default=0))["total"]
        size = max(size, reserved_bytes)
        is_larger = size > reserved_bytes
        if is_larger and used_bytes(workspace_id, without=digest) + size > limit:
            raise NoRoom(f"The workspace may hold {limit} bytes of files")
        Upload.objects.update_or_create(
            workspace_id=workspace_id,
            digest=digest,
            defaults={"size": size, "last_part_at": now},
        )


def _uploads(workspace_id: int, digest: str) -> QuerySet[Upload]:
    return Upload.objects.filter(workspace_id=workspace_id, digest=digest)


def _unused(before: object) -> QuerySet[Blob]:
    references = File.objects.filter(
        workspace_id=OuterRef("workspace_id"), digest=OuterRef("digest")
    )
    return Blob.objects.filter(Q(asked_at__lt=before), ~Exists(references))


def _remove_unknown(workspace_id: int, digest: str) -> bool:
    """Delete a content unless it has a row, even one created just now."""
    with _exclusive(workspace_id, digest):
        if Blob.objects.filter(workspace_id=workspace_id, digest=digest).exists():
            return False
        blob_folder().remove(workspace_id, digest)
        return True


@contextmanager
def _exclusive(workspace_id: int, digest: str) -> Iterator[None]:
    """Lock a content until the transaction ends."""
    with transaction.atomic():
        # On SQLite, the transaction itself is exclusive.
        if connection.vendor == "postgresql":
            key = (int(digest[:15], 16) ^ workspace_id) & (2**63 - 1)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])
        yield
