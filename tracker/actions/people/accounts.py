"""Creates accounts and changes their names, addresses and passwords."""

from __future__ import annotations

import re

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

from tracker.actions.people.audit import Action, note
from tracker.errors import InvalidInput
from tracker.models import User

NAME_MAX_LENGTH = 150
# Longer passwords only make the server hash longer.
PASSWORD_MAX_LENGTH = 1_000
EMAIL_MAX_LENGTH = 254
EMAIL_TAKEN = "belongs to another account"
NOT_IN_USERNAMES = re.compile(r"[^a-z0-9._-]+")


def create_account(
    email: str,
    name: str,
    password: str = "",
    *,
    is_service: bool = False,
    by: User | int | None = None,
    address: str = "",
) -> User:
    """Create an account; without a password its user signs in by other means.

    `by` is the account that caused it, if not the new one; `address` is the client's.
    """
    email, name = valid_email(email) if email else "", valid_name(name)
    user = User(email=email, name=name, is_service=is_service)
    if password:
        user.set_password(valid_password(password, user))
    else:
        user.set_unusable_password()
    with transaction.atomic():
        user.username = _free_username(email.partition("@")[0] or name)
        _save(user)
        note(Action.ACCOUNT_CREATED, user, by=by or user, address=address)
    return user


def valid_email(text: str) -> str:
    """Return the address as it is stored: trimmed, in lower case."""
    email = text.strip().lower()
    try:
        validate_email(email)
    except ValidationError as error:
        raise InvalidInput("email", "must be a valid address") from error
    if len(email) > EMAIL_MAX_LENGTH:
        raise InvalidInput("email", f"must have at most {EMAIL_MAX_LENGTH} characters")
    return email


def valid_name(text: str) -> str:
    name = " ".join(text.split())
    if not 0 < len(name) <= NAME_MAX_LENGTH or not name.isprintable():
        raise InvalidInput("name", f"must have 1 to {NAME_MAX_LENGTH} characters")
    return name


def valid_password(password: str, user: User) -> str:
    """Return the password if all of Django's validators accept it for this user."""
    if len(password) > PASSWORD_MAX_LENGTH or "\0" in password:
        limit = f"must have at most {PASSWORD_MAX_LENGTH} characters"
        raise InvalidInput("password", limit)
    try:
        validate_password(password, user)
    except ValidationError as error:
        reasons = " ".join(error.messages).rstrip(".")
        raise InvalidInput("password", f"is not accepted: {reasons}") from error
    return password


def _free_username(wanted: str) -> str:
    """Return a short name for mentions and commands that no account has yet."""
    base = NOT_IN_USERNAMES.sub("-", wanted.lower()).strip("-.")[:100] or "user"
    taken = set(
        User.objects.filter(username__startswith=base).values_list(
            "username", flat=True
        )
    )
    number, username = 1, base
    while username in taken:
        number += 1
        username = f"{base}-{number}"
    return username


def _save(user: User) -> None:
    if user.email and User.objects.filter(email__iexact=user.email).exists():
        raise InvalidInput("email", EMAIL_TAKEN)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:
        # Another request took the address or the name after the look above.
        raise InvalidInput("email", EMAIL_TAKEN) from error
