"""A report: a text with widgets in it, its versions, what is being written, and comments."""

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
    """Its name and text are those of its newest version; 0: nothing was saved yet."""

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
    """What was saved at one time, by one person."""

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
    # The version that was restored by this one.
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
    """What one person has typed and not saved as a version."""

    report = models.ForeignKey(Report, models.CASCADE, related_name="drafts")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(max_length=200)
    text = models.TextField(default="")
    # The version it was begun from.
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
    """What a reader says of a report, or of a passage of it; or an answer to that.

    One that was deleted and has answers stands for as long as they do; once it cannot be
    brought back any more, its text is gone.
    """

    report = models.ForeignKey(Report, models.CASCADE, related_name="comments")
    # The comment that this one answers, which answers none.
    thread = models.ForeignKey(
        "self", models.CASCADE, null=True, related_name="answers"
    )
    # The version that its writer had before them, and the passage of it that this is
    # about: its key, kind and words. Of answers and of the whole report: empty.
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
    # Of a thread's first comment only.
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
            # Those with their text: the others wait for their answers, maybe for ever.
            models.Index(
                fields=["deleted_at"],
                condition=models.Q(deleted_at__isnull=False) & ~models.Q(text=""),
                name="report_comment_deleted",
            )
        ]

    def __str__(self) -> str:
        return self.text
