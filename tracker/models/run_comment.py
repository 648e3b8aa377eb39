"""Comments of members on runs and on findings, in threads."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from tracker.models.deletion import Deletable
from tracker.models.diagnosis import Finding
from tracker.models.run import Run


class RunComment(Deletable):
    """A comment on a run or one of its findings, or an answer to a comment.

    A deleted comment stays as a placeholder while it has answers.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="comments")
    finding = models.ForeignKey(
        Finding, models.SET_NULL, null=True, related_name="comments"
    )
    # The finding's title at that time, as the finding may be deleted.
    about = models.CharField(max_length=300, default="")
    # The first comment of the thread. Without a constraint, because runs are purged in
    # any order of comments.
    thread = models.ForeignKey(
        "self",
        models.DO_NOTHING,
        null=True,
        related_name="answers",
        db_constraint=False,
    )
    text = models.TextField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    written_at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True)
    # Set on a thread's first comment only.
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )

    class Meta:
        indexes: ClassVar = [
            # Comments to purge.
            models.Index(
                fields=["deleted_at"],
                condition=models.Q(deleted_at__isnull=False) & ~models.Q(text=""),
                name="run_comment_deleted",
            )
        ]

    def __str__(self) -> str:
        return self.text
