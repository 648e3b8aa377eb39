"""Changes the email address of an account after its confirmation.

Until then sign-in, password resets, mail and identity providers use the old address.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from tracker.actions.people.accounts import (
    keep_address,
    require_free_address,
    save_account,
    valid_email,
)
from tracker.actions.people.audit import Action, note
from tracker.actions.people.mail import queue_mail
from tracker.errors import InvalidInput, NotFound
from tracker.models import User

LINK_LIFETIME = timedelta(days=3)
SALT = "seamark.confirm-address"


def request_address(user: User, email: str, *, address: str = "") -> None:
    """Store a new address as pending, and mail a confirmation link to it."""
    email = valid_email(email)
    require_free_address(user, email)
    with transaction.atomic():
        user.pending_email = email
        user.save(update_fields=["pending_email"])
        note(
            Action.ACCOUNT_CHANGED,
            user,
            by=user,
            address=address,
            changed={"pending_email": email},
        )
        token = signing.dumps([user.id, email], salt=SALT, compress=True)
        path = reverse("confirm-email", args=[token])
        context = {"name": user.display_name, "url": settings.PUBLIC_URL + path}
        queue_mail(email, "confirm_email", context)


def withdraw_address(user: User) -> None:
    """Discard a pending address."""
    User.objects.filter(id=user.id).update(pending_email="")


def pending_address(user_id: int, token: str) -> str:
    """Return the address that a link confirms; raise NotFound for an invalid link."""
    try:
        known, email = signing.loads(token, salt=SALT, max_age=LINK_LIFETIME)
    except signing.BadSignature as error:
        raise NotFound("link") from error
    is_pending = User.objects.filter(id=user_id, pending_email=email).exists()
    if known != user_id or not is_pending:
        raise NotFound("link")
    return str(email)


@transaction.atomic
def confirm_address(
    user: User, email: str, *, by: User | int | None = None, address: str = ""
) -> None:
    """Make a pending address the account's own.

    The user has opened the link sent to `email`, or `by` manages the account and sees
    the address there. Raises InvalidInput if another address, or none, is pending by
    now.
    """
    rows = User.objects.select_for_update()
    pending = rows.filter(id=user.id, pending_email=email).first() if email else None
    if pending is None:
        raise InvalidInput("the email address", "was confirmed or changed already")
    set_address(pending, email, by=by, address=address)


def set_address(
    user: User, email: str, *, by: User | int | None = None, address: str = ""
) -> None:
    """Change the address at once; an empty one removes it."""
    before, email = user.email, valid_email(email) if email.strip() else ""
    user.email, user.pending_email = email, ""
    with transaction.atomic():
        save_account(user)
        note(
            Action.ACCOUNT_CHANGED,
            user,
            by=by,
            address=address,
            changed={"email": email},
        )
        keep_address(user, is_verified=True)
        if before:
            _report_change(before, user, address)


def _report_change(previous: str, user: User, address: str) -> None:
    """Notify the previous address."""
    context = {
        "name": user.display_name,
        "change": "email-changed",
        "timestamp": timezone.now(),
        "ip": address,
    }
    queue_mail(previous, "account_changed", context)
