"""Takes contents of files in parts, and lets go of those that nobody refers to.

The row of a content says that it is there, whole and checked. It is made and deleted
under a lock on the content, and the file comes and goes under the same: so a content
that is deleted at the moment when it is sent again is there afterwards.
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

# An agent may send a content long before anything refers to it, or be told that it is
# there already; and half a content is of use to nobody but who goes on with it.
GRACE = timedelta(days=1)
# The time of an upload's last part is written this often, not with each part.
LAST_PART_RESOLUTION = timedelta(hours=1)
# What the database needs to go on, if it lies on the same disk.
MIN_FREE_BYTES = 512 * 1024 * 1024
COLLECTED_AT_ONCE = 1_000
SHARDS = 256


@dataclass(frozen=True, slots=True)
class Progress:
    """How many bytes of a content are there, and whether it is whole and checked."""

    received: int
    is_stored: bool


def blob_folder() -> BlobFolder:
    return BlobFolder(settings.DATA_FOLDER / "files")


def progress_of(workspace_id: int, digest: str, *, size: int) -> Progress:
    """Say how much of a content is there; one that is, is kept for a day from now."""
    _check_size(size)
    if _is_kept(workspace_id, digest):
        return Progress(size, is_stored=True)
    folder = blob_folder()
    received = folder.received(workspace_id, digest)
    if received < size:
        return Progress(received, is_stored=False)
    # All of it came, and whoever took the last part did not live to check it.
    return receive(workspace_id, digest, size=size, offset=received, pieces=())


def receive(
    workspace_id: int, digest: str, *, size: int, offset: int, pieces: Iterable[bytes]
) -> Progress:
    """Add to a content what begins at an offset; once it is whole, check and keep it."""
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
    """Delete contents that nobody refers to, for so long; return how many."""
    deadline = time.monotonic() + seconds
    before = timezone.now() - GRACE
    blob_folder().sweep(before=before.timestamp())
    # After the file, so that no byte is uncounted while it is on disk.
    Upload.objects.filter(last_part_at__lt=before - LAST_PART_RESOLUTION).delete()
    unused = _unused(before).values_list("id", "workspace_id", "digest")
    count = 0
    for key, workspace_id, digest in unused[:COLLECTED_AT_ONCE]:
        if time.monotonic() > deadline:
            break
        # Looked at again in the statement: somebody may refer to it by now.
        deleted, _ = _unused(before).filter(id=key).delete()
        if deleted:
            _remove_unknown(workspace_id, digest)
            count += 1
    return count


def remove_strays(shard: int) -> int:
    """Delete contents without a row, of one of the 256 shards; return how many.

    A server that is killed between two steps leaves such behind.
    """
    before = (timezone.now() - GRACE).timestamp()
    count = 0
    for workspace_id, digest, changed_at in blob_folder().contents(f"{shard:02x}"):
        known = Blob.objects.filter(workspace_id=workspace_id, digest=digest)
        if changed_at < before and not known.exists():
            count += _remove_unknown(workspace_id, digest)
    return count


def used_bytes(workspace_id: int, *, without: str = "") -> int:
    """Return the size of all files and unfinished uploads but those of one digest."""
    return sum(
        kind.objects.filter(workspace_id=workspace_id)
        .exclude(digest=without)
        .aggregate(total=Sum("size", default=0))["total"]
        for kind in (Blob, Upload)
    )


def _checked(workspace_id: int, digest: str, content: Arriving) -> Progress:
    found = content.digest()
    if found is None:
        # Asked again, this goes on where it stopped.
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
        # Deleted by hand, or not in the backup: whoever sends it mends it.
        return False
    # Not if it was deleted a moment ago.
    return bool(rows.update(asked_at=timezone.now()))


def _check_size(size: int) -> None:
    if size > settings.LARGEST_FILE_BYTES:
        raise TooLarge("The file", f"{settings.LARGEST_FILE_BYTES} bytes")


def _check_disk(size: int) -> None:
    if blob_folder().free_bytes() - size < MIN_FREE_BYTES:
        raise NoRoom("The server's disk is nearly full")


def _reserve(workspace_id: int, digest: str, size: int) -> None:
    """Count the whole upload against the workspace's quota before it takes a byte."""
    limit = settings.WORKSPACE_FILE_BYTES
    now = timezone.now()
    reserved = _uploads(workspace_id, digest)
    recent = reserved.filter(last_part_at__gt=now - LAST_PART_RESOLUTION)
    if not limit or recent.filter(size__gte=size).exists():
        return
    with transaction.atomic():
        # One at a time, so that two uploads cannot share the last free bytes.
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
    """Delete a content unless it has a row, also one that was made just now."""
    with _exclusive(workspace_id, digest):
        if Blob.objects.filter(workspace_id=workspace_id, digest=digest).exists():
            return False
        blob_folder().remove(workspace_id, digest)
        return True


@contextmanager
def _exclusive(workspace_id: int, digest: str) -> Iterator[None]:
    """Keep others away from a content until the transaction ends."""
    with transaction.atomic():
        # On SQLite the transaction alone keeps all others from writing.
        if connection.vendor == "postgresql":
            key = (int(digest[:15], 16) ^ workspace_id) & (2**63 - 1)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])
        yield
