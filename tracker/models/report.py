"""A report: a text with widgets, its versions, drafts and comments."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.conf import settings
from django.db import models

from tracker.actor import Actor
from tracker.models.deletion import Deletable, KeptManager, index_of_deleted
from tracker.models.project import Project


class ReportQuerySet(models.QuerySet["Report"]):
    def readable_by(self, actor: Actor) -> Self:
        if actor.grant is not None:
            return self.filter(
                project_id=actor.grant.project_id, id__in=actor.grant.of("report")
            )
        return self.filter(project__in=Project.objects.readable_by(actor))


class Report(Deletable):
    """Name and text are those of the newest version; version 0: nothing saved yet."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="reports")
    name = models.CharField(max_length=200)
    text = models.TextField(default="")
    version = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    changed_at = models.DateTimeField(auto_now_add=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )

    objects = KeptManager.from_queryset(ReportQuerySet)()
    with_deleted = ReportQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["project", "-changed_at"], name="report_newest"),
            index_of_deleted("report_deleted"),
        ]

    def __str__(self) -> str:
        return self.name


class ReportVersion(models.Model):
    """A saved version."""

    report = models.ForeignKey(Report, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    text = models.TextField()
    saved_at = models.DateTimeField(auto_now_add=True)
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    # The older version whose text this one restores.
    restored = models.PositiveIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["report", "number"], name="report_version_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name}, version {self.number}"


class ReportDraft(models.Model):
    """A user's unsaved changes."""

    report = models.ForeignKey(Report, models.CASCADE, related_name="drafts")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(max_length=200)
    text = models.TextField(default="")
    # The version that it is based on.
    based_on = models.PositiveIntegerField()
    saved_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["report", "user"], name="report_draft_once_per_user"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name}, by {self.user_id}"


class ReportComment(Deletable):
    """A comment on a report or a passage of it, or an answer to a comment.

    A deleted comment with answers stays as a placeholder; its text is deleted when it
    can no longer be restored.
    """

    report = models.ForeignKey(Report, models.CASCADE, related_name="comments")
    # The first comment of the thread; null for a first comment.
    thread = models.ForeignKey(
        "self", models.CASCADE, null=True, related_name="answers"
    )
    # The version that the author saw, and the passage that the comment is about: its
    # key, kind and words. Empty for answers and for comments on the whole report.
    version = models.PositiveIntegerField()
    passage = models.CharField(max_length=24, default="")
    passage_kind = models.CharField(max_length=20, default="")
    quote = models.CharField(max_length=400, default="")
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
            # With their text: placeholders may wait for their answers forever.
            models.Index(
                fields=["deleted_at"],
                condition=models.Q(deleted_at__isnull=False) & ~models.Q(text=""),
                name="report_comment_deleted",
            )
        ]

    def __str__(self) -> str:
        return self.text
