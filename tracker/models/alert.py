"""Alerts of a project, the channels they are sent to, and their delivery."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from tracker.models.project import Project
from tracker.models.run import Run


class ChannelKind(models.TextChoices):
    EMAIL = "email"
    WEBHOOK = "webhook"
    # Chat services, by their names in tracker/alerts/services.
    SLACK = "slack"
    MATTERMOST = "mattermost"
    TEAMS = "teams"
    DISCORD = "discord"


class Channel(models.Model):
    """A destination of a project's alerts."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="channels")
    kind = models.CharField(max_length=10, choices=ChannelKind.choices)
    # An email address or a webhook URL.
    address = models.CharField(max_length=500)
    # Signs webhook requests, so that receivers can verify them.
    secret = models.CharField(max_length=64, default="")
    # The minimum severity that is sent.
    severity = models.CharField(max_length=10)
    created_at = models.DateTimeField(auto_now_add=True)
    # The lease of the worker that sends; it expires if the worker dies.
    leased_until = models.DateTimeField(null=True)
    # A failing receiver is paused, longer each time.
    paused_until = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    last_error = models.TextField(default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "kind", "address"], name="channel_once_per_project"
            )
        ]

    def __str__(self) -> str:
        return self.address


class Alert(models.Model):
    """An event for a project's members; raised once per subject."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="alerts")
    run = models.ForeignKey(Run, models.CASCADE, related_name="alerts")
    stage = models.CharField(max_length=200)
    # A rule and its scope, or the new state of the stage.
    subject = models.CharField(max_length=300)
    severity = models.CharField(max_length=10)
    title = models.CharField(max_length=300)
    summary = models.TextField()
    raised_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "stage", "subject"], name="alert_once_per_subject"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "-raised_at"], name="alert_newest")
        ]

    def __str__(self) -> str:
        return self.title


class Delivery(models.Model):
    """The delivery of one alert to one channel."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="+")
    alert = models.ForeignKey(Alert, models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey(Channel, models.CASCADE, related_name="deliveries")
    # When to send it; empty once it was sent or given up.
    due_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.TextField(default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["alert", "channel"], name="delivery_once_per_channel"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["channel", "due_at"], name="delivery_due")
        ]
