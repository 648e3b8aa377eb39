"""Files of runs: references by path, and the contents stored per workspace."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.run import Run
from tracker.models.workspace import Workspace

# SHA-256 in lower-case hexadecimal.
DIGEST_CHARACTERS = 64


class File(models.Model):
    """A run's reference to a file content, which may be stored earlier, later or never.

    A file attribute has one row. A series of files has one row per content; every
    referenced content is kept.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="+", db_index=False)
    # Copied from the run, so that an index finds the references to a content.
    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_index=False
    )
    path = models.CharField(max_length=1024)
    digest = models.CharField(max_length=DIGEST_CHARACTERS)
    # As reported by the agent; the size of a stored content is in its own row.
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
            # The references to a content.
            models.Index(fields=["workspace", "digest"], name="file_contents"),
        ]

    def __str__(self) -> str:
        return self.path


class Blob(models.Model):
    """A complete and verified content of a workspace.

    Workspaces never share contents, even equal ones, so that uploads reveal nothing
    about other workspaces.
    """

    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="+", db_index=False
    )
    digest = models.CharField(max_length=DIGEST_CHARACTERS)
    size = models.PositiveBigIntegerField()
    stored_at = models.DateTimeField(auto_now_add=True)
    # When an agent was last answered that the content exists.
    asked_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "digest"], name="blob_once_per_workspace"
            )
        ]
        indexes: ClassVar = [
            # Possibly unreferenced contents.
            models.Index(fields=["asked_at"], name="blob_asked"),
        ]

    def __str__(self) -> str:
        return self.digest


class Upload(models.Model):
    """An unfinished upload, with the bytes reserved in the workspace's quota."""

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
