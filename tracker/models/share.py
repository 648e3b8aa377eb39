"""Links by which strangers may look at one thing of a project."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Self

from django.conf import settings
from django.db import models

from tracker.models.project import Project
from tracker.models.workspace import WRITING


class ShareLinkQuerySet(models.QuerySet["ShareLink"]):
    def live(self, now: datetime) -> Self:
        """Those that open something, if what they lead to is there."""
        return self.of_editors().filter(
            models.Q(expires_at=None) | models.Q(expires_at__gt=now), ended_at=None
        )

    def of_editors(self) -> Self:
        """Those whose makers may still edit the project."""
        # Twice: it is asked for within a subquery of the subquery.
        maker = models.OuterRef(models.OuterRef("made_by_id"))
        editable = Project.objects.of_member_as(maker, *WRITING)
        return self.filter(
            models.Exists(editable.filter(id=models.OuterRef("project_id")))
        )


class ShareLink(models.Model):
    """Kept after it has ended: who made it and who revoked it stays known."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="share_links")
    # A name in tracker.shares.KINDS, and what that kind tells its things apart by.
    kind = models.CharField(max_length=20)
    thing = models.CharField(max_length=1_000)
    # How the page is to open, as part of its address.
    query = models.CharField(max_length=4_000, default="")
    # Names of tracker.actor.Part.
    parts = models.JSONField(default=list)
    label = models.CharField(max_length=200, default="")
    # A tracker.boards.frozen.Frozen; None: the page as it is when somebody looks.
    frozen = models.JSONField(null=True)
    # Only the SHA-256 digest of the secret is stored, as with tokens.
    digest = models.CharField(max_length=64, unique=True)
    # The secret's first characters, so that people can tell their links apart.
    prefix = models.CharField(max_length=16)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    # Written at most once a minute, so that strangers cause few writes.
    last_opened_at = models.DateTimeField(null=True)
    open_count = models.PositiveBigIntegerField(default=0)
    ended_at = models.DateTimeField(null=True)
    # Who revoked it; None: what it led to is gone, or they are.
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )

    objects = ShareLinkQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["project", "-made_at"], name="share_link_newest"),
            # Ending what leads to runs that move to the trash.
            models.Index(
                fields=["kind", "thing"],
                condition=models.Q(ended_at__isnull=True),
                name="share_link_of_thing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} ({self.prefix}…)"
