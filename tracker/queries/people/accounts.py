"""Finds accounts."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.db.models import Q

from tracker.models import User


def is_service_account(user_id: int) -> bool:
    return User.objects.filter(id=user_id, is_service=True).exists()


def known_login(login: str) -> str:
    """Return the username of the account with this email address or username."""
    found = User.objects.filter(Q(username__iexact=login) | Q(email__iexact=login))
    return found.values_list("username", flat=True).first() or "" if login else ""


def is_connected(user_id: int) -> bool:
    """Return whether an identity provider signs the user in."""
    return bool(SocialAccount.objects.filter(user_id=user_id).exists())


def has_second_factor(user_id: int) -> bool:
    return bool(Authenticator.objects.filter(user_id=user_id).exists())


def account_with_email(email: str) -> User | None:
    return User.objects.filter(email__iexact=email).first() if email else None


def account_named(name: str) -> User | None:
    """Return the account with this username or email address."""
    return User.objects.filter(Q(username=name) | Q(email__iexact=name)).first()
