"""Finds accounts."""

from __future__ import annotations

from django.db.models import Q

from tracker.models import User


def is_service_account(user_id: int) -> bool:
    return User.objects.filter(id=user_id, is_service=True).exists()


def known_login(login: str) -> str:
    """Return the username of the account with this email address or username."""
    found = User.objects.filter(Q(username__iexact=login) | Q(email__iexact=login))
    return found.values_list("username", flat=True).first() or "" if login else ""


def account_named(name: str) -> User | None:
    """Return the account with this username or email address."""
    return User.objects.filter(Q(username=name) | Q(email__iexact=name)).first()
