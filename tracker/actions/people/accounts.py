"""Creates accounts and changes their names, addresses and passwords."""

from __future__ import annotations

import re

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.http import int_to_base36

from tracker.actions.people.audit import Action, note
from tracker.errors import InvalidInput
from tracker.models import User
from tracker.reset_tokens import ResetTokens

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
    email_is_verified: bool = False,
    by: User | int | None = None,
    address: str = "",
) -> User:
    """Create an account; without a password its user signs in by other means.

    `by` is the account that caused it, if not the new one; `address` is the client's.
    Single sign-on with the same email address matches the account if the address is
    verified: by a mail that its user received, or by the administrator.
    """
    email, name = valid_email(email) if email else "", valid_name(name)
    user = User(email=email, name=name, is_service=is_service)
    if password:
        user.set_password(valid_password(password, user))
    else:
        user.set_unusable_password()
    with transaction.atomic():
        user.username = _free_username(email.partition("@")[0] or name)
        save_account(user)
        keep_address(user, is_verified=email_is_verified)
        note(Action.ACCOUNT_CREATED, user, by=by or user, address=address)
    return user


def change_name(user: User, name: str, *, address: str = "") -> None:
    """Change the user's own name."""
    name = valid_name(name)
    if name == user.name:
        return
    user.name = name
    with transaction.atomic():
        user.save(update_fields=["name"])
        changed = {"name": name}
        note(Action.ACCOUNT_CHANGED, user, by=user, address=address, changed=changed)


def make_reset_link(
    user: User, *, by: User | int | None = None, address: str = ""
) -> str:
    """Return a URL for setting a new password once, within a day.

    The caller checks that `by` manages the user's account.
    """
    # Reloaded: a sign-in since then would make the link invalid.
    token = ResetTokens().make_token(User.objects.get(id=user.id))
    note(Action.RESET_LINK_MADE, user, by=by, address=address)
    arguments = {"uidb36": int_to_base36(user.id), "key": token}
    path = reverse("account_reset_password_from_key", kwargs=arguments)
    return settings.PUBLIC_URL + path


def remove_second_factors(
    user: User, *, by: User | int | None = None, address: str = ""
) -> None:
    """Remove authenticator app, passkeys and recovery codes, for a user who lost them."""
    with transaction.atomic():
        Authenticator.objects.filter(user=user).delete()
        note(
            Action.SECOND_FACTOR_CHANGED, user, by=by, address=address, change="removed"
        )


def valid_email(text: str) -> str:
    """Return the address in stored form: trimmed, in lower case."""
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


def _free_username(preferred: str) -> str:
    """Return an unused username for mentions and commands."""
    base = NOT_IN_USERNAMES.sub("-", preferred.lower()).strip("-.")[:100] or "user"
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


def require_free_address(user: User, email: str) -> None:
    same = User.objects.filter(email__iexact=email).exclude(id=user.id)
    if email and same.exists():
        raise InvalidInput("email", EMAIL_TAKEN)


def save_account(user: User) -> None:
    """Store an account; raise InvalidInput if its email address is taken."""
    require_free_address(user, user.email)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:
        # A concurrent request took the address or the name.
        raise InvalidInput("email", EMAIL_TAKEN) from error


def keep_address(user: User, *, is_verified: bool) -> None:
    """Store the address in allauth's table of verified addresses."""
    addresses = EmailAddress.objects.filter(user=user)
    addresses.exclude(email=user.email).delete()
    if user.email and not addresses.exists():
        EmailAddress.objects.create(
            user=user, email=user.email, primary=True, verified=is_verified
        )
