"""Decides whether a browser session may enter a workspace that requires a second
factor.

API keys are exempt: they are secrets of their own, and service accounts have nothing
else.
"""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.authentication import get_authentication_records
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest

from tracker.models import Member, User

# Session key of sign-ins by a proxy header, unlike those by one-time links.
BY_PROXY = "signed_in_by_proxy"
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


class Accounts(AuthenticationBackend):
    """Loads the user of a session together with whether a factor is required."""

    def get_user(self, user_id: int) -> User | None:
        user = _with_duties().filter(id=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None


def must_add_factor(request: HttpRequest) -> bool:
    """Return whether the user must set up a second factor before anything else."""
    return (
        _is_required(request)
        and not _duties(request).has_factor
        and not _counts_as_factor(request)
    )


def must_confirm_factor(request: HttpRequest) -> bool:
    """Return whether the proxy signed the user in without checking their factor."""
    if not _is_required(request) or not request.session.get(BY_PROXY):
        return False
    records = get_authentication_records(request, request.user)
    is_confirmed = any(record["method"] == "mfa" for record in records)
    return not is_confirmed and not _counts_as_factor(request)


def _is_required(request: HttpRequest) -> bool:
    return bool(request.user.is_authenticated and _duties(request).requires_factor)


# Any: annotated columns, which models do not declare.
def _duties(request: HttpRequest) -> Any:
    user = request.user
    if hasattr(user, "requires_factor"):
        return user
    # This request signed the user in, so the backend above did not load the user.
    return _with_duties().get(id=user.pk or 0)


def _with_duties() -> QuerySet[User]:
    members = Member.objects.filter(
        user=OuterRef("id"), is_active=True, workspace__requires_second_factor=True
    )
    factors = Authenticator.objects.filter(user=OuterRef("id"), type__in=FACTORS)
    return User.objects.annotate(
        requires_factor=Exists(members), has_factor=Exists(factors)
    )


def _counts_as_factor(request: HttpRequest) -> bool:
    if not settings.SSO_IS_SECOND_FACTOR:
        return False
    records = get_authentication_records(request, request.user)
    by_provider = any(record["method"] == "socialaccount" for record in records)
    return by_provider or bool(request.session.get(BY_PROXY))
