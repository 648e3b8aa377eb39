"""Share links, by which visitors without an account see one object of a project."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Self

from django.conf import settings
from django.db import models

from tracker.models.project import Project
from tracker.models.workspace import WRITING


class ShareLinkQuerySet(models.QuerySet["ShareLink"]):
    def live(self, now: datetime) -> Self:
        """Return links that work, provided that their object exists."""
        return self.of_editors().filter(
            models.Q(expires_at=None) | models.Q(expires_at__gt=now), ended_at=None
        )

    def of_editors(self) -> Self:
        """Return links whose creators may still edit the project."""
        # Nested twice: it is used in a subquery of the subquery.
        maker = models.OuterRef(models.OuterRef("made_by_id"))
        editable = Project.objects.of_member_as(maker, *WRITING)
        return self.filter(
            models.Exists(editable.filter(id=models.OuterRef("project_id")))
        )


class ShareLink(models.Model):
    """Kept after it has ended, to record its creator and the user who revoked it."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="share_links")
    # A name in tracker.shares.KINDS, and the identifier of the object in that kind.
    kind = models.CharField(max_length=20)
    thing = models.CharField(max_length=1_000)
    # The query string with which the page opens.
    query = models.CharField(max_length=4_000, default="")
    # Names of tracker.actor.Part.
    parts = models.JSONField(default=list)
    label = models.CharField(max_length=200, default="")
    # A tracker.boards.frozen.Frozen; None: the link shows the current state.
    frozen = models.JSONField(null=True)
    # Only the SHA-256 digest of the secret is stored, as with tokens.
    digest = models.CharField(max_length=64, unique=True)
    # The secret's first characters, to recognize the link.
    prefix = models.CharField(max_length=16)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    # Written at most once a minute, so that visitors cause few writes.
    last_opened_at = models.DateTimeField(null=True)
    open_count = models.PositiveBigIntegerField(default=0)
    ended_at = models.DateTimeField(null=True)
    # The user who revoked it; None: its object or that user was deleted.
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )

    objects = ShareLinkQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["project", "-made_at"], name="share_link_newest"),
            # Ends links to runs that move to the trash.
            models.Index(
                fields=["kind", "thing"],
                condition=models.Q(ended_at__isnull=True),
                name="share_link_of_thing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} ({self.prefix}…)"
