"""Files of runs: what a run says of each, and the contents a workspace holds."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.run import Run
from tracker.models.workspace import Workspace

# SHA-256, as small hexadecimal digits.
DIGEST_CHARACTERS = 64


class File(models.Model):
    """What a run says of a file; its content may come before or after this, or never.

    An attribute that is a file has one row. A series whose values are files has one for
    each content: whatever has a row is kept.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="+", db_index=False)
    # The run's, so that an index finds who refers to a content.
    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_index=False
    )
    path = models.CharField(max_length=1024)
    digest = models.CharField(max_length=DIGEST_CHARACTERS)
    # As the agent says; what is true of a content that is there, its own row knows.
    size = models.PositiveBigIntegerField()
    media_type = models.CharField(max_length=100)
    name = models.CharField(max_length=255)
    added_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "path", "digest"], name="file_once_per_path"
            )
        ]
        indexes: ClassVar = [
            # Whether anybody still refers to a content.
            models.Index(fields=["workspace", "digest"], name="file_contents"),
        ]

    def __str__(self) -> str:
        return self.path


class Blob(models.Model):
    """A content that a workspace holds, whole and checked.

    Workspaces share none, even if equal: so nobody learns what another one holds.
    """

    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_index=False
    )
    digest = models.CharField(max_length=DIGEST_CHARACTERS)
    size = models.PositiveBigIntegerField()
    stored_at = models.DateTimeField(auto_now_add=True)
    # When an agent was last told that it need not send it.
    asked_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "digest"], name="blob_once_per_workspace"
            )
        ]
        indexes: ClassVar = [
            # What nobody asked for lately, and perhaps nobody refers to.
            models.Index(fields=["asked_at"], name="blob_asked"),
        ]

    def __str__(self) -> str:
        return self.digest


class Upload(models.Model):
    """An unfinished upload: the bytes that it may still use of the workspace's quota."""

    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_index=False
    )
    digest = models.CharField(max_length=DIGEST_CHARACTERS)
    # The largest size that an agent declared for this content.
    size = models.PositiveBigIntegerField()
    last_part_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "digest"], name="upload_once_per_workspace"
            )
        ]
        indexes: ClassVar = [
            # Deleting abandoned uploads.
            models.Index(fields=["last_part_at"], name="upload_last_part"),
        ]

    def __str__(self) -> str:
        return self.digest
