"""Users' notifications: inbox, followed runs, and delivery settings."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from tracker.models.project import Project
from tracker.models.run import Run


class NotificationKind(models.TextChoices):
    FAILURE = "failure"
    FINDING = "finding"
    RULE = "rule"
    MENTION = "mention"
    COMMENT = "comment"


class Follow(models.Model):
    """A user's choice about one run, or about all runs of a project."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="follows"
    )
    project = models.ForeignKey(Project, models.CASCADE, related_name="follows")
    # None: the whole project.
    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="follows")
    # False: unfollowed. Without a row, a run is followed by the user who started it.
    is_on = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "run"], name="follow_once_per_run"),
            models.UniqueConstraint(
                fields=["user", "project"],
                condition=models.Q(run=None),
                name="follow_once_per_project",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.run or self.project}"


class Notification(models.Model):
    """One message to one user about one incident."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="notifications",
        db_index=False,
    )
    kind = models.CharField(max_length=10, choices=NotificationKind.choices)
    # Each incident notifies a user once.
    incident = models.CharField(max_length=200)
    severity = models.CharField(max_length=10)
    title = models.CharField(max_length=300)
    summary = models.TextField()
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="+")
    # The page in the app: a path.
    address = models.CharField(max_length=500)
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)
    # When to send it by mail and by webhook; None: never, or done.
    mail_due_at = models.DateTimeField(null=True)
    webhook_due_at = models.DateTimeField(null=True)
    webhook_attempts = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["user", "incident"], name="notification_once_per_incident"
            )
        ]
        indexes: ClassVar = [
            # The inbox.
            models.Index(fields=["user", "-id"], name="notification_newest"),
            # The unread count.
            models.Index(
                fields=["user"],
                condition=models.Q(read_at=None),
                name="notification_unread",
            ),
            # The mail and webhook senders.
            models.Index(
                fields=["mail_due_at"],
                condition=models.Q(mail_due_at__isnull=False),
                name="notification_mail_due",
            ),
            models.Index(
                fields=["user", "webhook_due_at"],
                condition=models.Q(webhook_due_at__isnull=False),
                name="notification_webhook_due",
            ),
            models.Index(fields=["project"], name="notification_project"),
        ]

    def __str__(self) -> str:
        return self.title


class MailSchedule(models.TextChoices):
    NOW = "now"
    DAILY = "daily"


class NotificationSettings(models.Model):
    """A user's choice of notifications per channel, besides the inbox."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        primary_key=True,
        related_name="notification_settings",
    )
    # Lists of kinds.
    mail_kinds = models.JSONField(default=list)
    webhook_kinds = models.JSONField(default=list)
    mail_schedule = models.CharField(
        max_length=10, choices=MailSchedule.choices, default=MailSchedule.NOW
    )
    # An IANA name, for the daily digest. "": UTC.
    time_zone = models.CharField(max_length=64, default="")
    # A name from tracker/alerts/services; "": no webhook.
    webhook_service = models.CharField(max_length=20, default="")
    webhook_address = models.CharField(max_length=500, default="")
    webhook_secret = models.CharField(max_length=64, default="")
    # The lease of the worker that sends; a failing receiver is paused, longer each
    # time.
    leased_until = models.DateTimeField(null=True)
    paused_until = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    last_error = models.TextField(default="")

    def __str__(self) -> str:
        return f"notification settings of {self.user}"
