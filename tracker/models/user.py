"""Accounts, and their secrets: API tokens and one-time sign-in links.

Only the SHA-256 digest of a secret is stored. Secrets have 256 random bits, so a slow
password hash would add cost but no security.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower

from tracker.actor import Scope
from tracker.models.workspace import Member


class User(AbstractUser):
    """A person, or a service account, which has keys and cannot sign in.

    Its memberships determine its permissions.
    """

    name = models.CharField(max_length=150, default="", db_default="")
    # An unconfirmed address that the user entered.
    pending_email = models.EmailField(default="", db_default="")
    is_service = models.BooleanField(default=False, db_default=False)

    class Meta(AbstractUser.Meta):
        constraints: ClassVar = [
            models.UniqueConstraint(
                Lower("email"),
                condition=~models.Q(email=""),
                name="user_email_once",
            )
        ]

    def __str__(self) -> str:
        return self.display_name

    @property
    def display_name(self) -> str:
        return self.name or self.username

    @property
    def initials(self) -> str:
        """Return one or two letters for the avatar."""
        words = self.display_name.replace("-", " ").replace(".", " ").split()
        first, *rest = words or ["?"]
        return (first[:1] + (rest[-1][:1] if rest else "")).upper()


class Token(models.Model):
    member = models.ForeignKey(Member, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=200)
    scope = models.CharField(
        max_length=10, choices=[(scope.value, scope.value) for scope in Scope]
    )
    digest = models.CharField(max_length=64, unique=True)
    # True: the key is limited to `projects`, even if all of them were deleted.
    is_limited = models.BooleanField(default=False, db_default=False)
    projects = models.ManyToManyField("tracker.Project", related_name="+")
    # The first characters, to recognize the token.
    prefix = models.CharField(max_length=16)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class SignInLink(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"sign-in link for {self.user}"
