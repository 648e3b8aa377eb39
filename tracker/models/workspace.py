"""The people and projects that share an installation's access."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models


class Role(models.TextChoices):
    OWNER = "owner"
    EDITOR = "editor"
    VIEWER = "viewer"


class Workspace(models.Model):
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=200, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Member(models.Model):
    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="members", related_query_name="member"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role.choices)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "user"], name="member_once_per_workspace"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}"
