"""A login. What it may see is decided by its memberships."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    pass
