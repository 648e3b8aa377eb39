"""The user's own name and email address."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, cast

from allauth.account.decorators import reauthentication_required
from django.contrib.auth.models import AbstractUser
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from tracker.access.people import manages_account
from tracker.actions.people.accounts import change_name
from tracker.actions.people.addresses import (
    confirm_address,
    pending_address,
    request_address,
    set_address,
    withdraw_address,
)
from tracker.actions.people.mail import can_mail
from tracker.errors import InvalidInput
from tracker.server.client_address import client_address
from web.session import PageRequest, signed_in
from web.toasts import tell


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def profile(request: PageRequest) -> HttpResponse:
    if request.method != "POST":
        return _profile(request)
    email = request.POST.get("email", "")
    if email.strip().lower() != getattr(request.user, "email", ""):
        response: HttpResponse = _save_after_confirming(request)
        return response
    return _save(request)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def confirm_email(request: PageRequest, token: str) -> HttpResponse:
    """Show the address that the link confirms; on POST, confirm it."""
    user: Any = request.user
    email = pending_address(user.id, token)
    if request.method != "POST":
        context = {"tab": "profile", "email": email}
        return render(request, "people/confirm_email.html", context)
    try:
        confirm_address(user, email, by=user, address=client_address(request))
    except InvalidInput as error:
        return _profile(request, error)
    tell(request, gettext("Email address confirmed."))
    return redirect("account")


def _save(request: PageRequest) -> HttpResponse:
    user: Any = request.user
    address = client_address(request)
    try:
        change_name(user, request.POST.get("name", ""), address=address)
        _save_address(request, user, request.POST.get("email", "").strip().lower())
    except InvalidInput as error:
        return _profile(request, error)
    tell(request, gettext("Profile saved."))
    return redirect("account")


# Any: a row of the users table, which pages do not import.
def _save_address(request: PageRequest, user: Any, email: str) -> None:
    """Change the address, or send a confirmation first.

    Without a mail server, a user who manages their own account confirms it by saving.
    """
    address = client_address(request)
    if email == user.email:
        withdraw_address(user)
    elif not email or (not can_mail() and manages_account(request.actor, user)):
        set_address(user, email, by=user, address=address)
    else:
        request_address(user, email, address=address)


# A new address can reset the password, so a stolen session must not be enough.
_save_after_confirming = reauthentication_required(_save, app="allauth.account")


def _profile(request: PageRequest, error: InvalidInput | None = None) -> HttpResponse:
    user = cast(AbstractUser, request.user)  # signed_in admits users only
    context = {
        "tab": "profile",
        "error": error,
        "typed": request.POST if error else user,
        "can_mail": can_mail(),
        "is_incomplete": not (user.email and user.has_usable_password()),
    }
    status = HTTPStatus.BAD_REQUEST if error else HTTPStatus.OK
    return render(request, "people/profile.html", context, status=status)
