"""An account. Its memberships determine its permissions."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower


class User(AbstractUser):
    """A person, or a service account, which has keys and cannot sign in."""

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
