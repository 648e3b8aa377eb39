"""Adds events of django-allauth to the audit log: passwords and second factors."""

from __future__ import annotations

from typing import Any

from allauth.account.signals import password_changed, password_reset, password_set
from allauth.mfa.signals import (
    authentication_failed,
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
)
from django.http import HttpRequest

from tracker.actions.people.audit import Action, note
from tracker.actions.people.sessions import end_sessions
from tracker.server.client_address import client_address


def connect() -> None:
    """Connect the receivers below; allauth has only signals for these events."""
    for signal in (password_changed, password_set, password_reset):
        signal.connect(_note_password)
    authenticator_added.connect(_note_factor_added)
    authenticator_removed.connect(_note_factor_removed)
    authenticator_reset.connect(_note_codes_replaced)
    authentication_failed.connect(_note_wrong_code)


# Any: the users and authenticators of allauth, which has no types.
def _note_password(request: HttpRequest, user: Any, **_: Any) -> None:
    address = client_address(request)
    note(Action.PASSWORD_CHANGED, user, by=user, address=address)
    # Their cookies are worthless already: a session holds a hash of the password.
    end_sessions(user.id, except_key=request.session.session_key, address=address)


def _note_factor_added(
    request: HttpRequest, user: Any, authenticator: Any, **_: Any
) -> None:
    _note_factor(request, user, authenticator, "added")


def _note_factor_removed(
    request: HttpRequest, user: Any, authenticator: Any, **_: Any
) -> None:
    _note_factor(request, user, authenticator, "removed")


def _note_codes_replaced(
    request: HttpRequest, user: Any, authenticator: Any, **_: Any
) -> None:
    _note_factor(request, user, authenticator, "replaced")


def _note_factor(
    request: HttpRequest, user: Any, authenticator: Any, change: str
) -> None:
    note(
        Action.SECOND_FACTOR_CHANGED,
        user,
        by=user,
        address=client_address(request),
        change=change,
        kind=str(authenticator.type),
    )


def _note_wrong_code(request: HttpRequest, user: Any, **_: Any) -> None:
    address = client_address(request)
    note(Action.SIGN_IN_FAILED, user, by=user, address=address, method="code")
