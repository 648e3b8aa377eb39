"""One's own name and email address."""

from __future__ import annotations

from http import HTTPStatus
from typing import cast

from allauth.account.decorators import reauthentication_required
from django.contrib.auth.models import AbstractUser
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from tracker.actions.people.accounts import change_profile
from tracker.client_address import client_address
from tracker.errors import InvalidInput
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


def _save(request: PageRequest) -> HttpResponse:
    try:
        change_profile(
            request.actor.user_id,
            name=request.POST.get("name", ""),
            email=request.POST.get("email", ""),
            address=client_address(request),
        )
    except InvalidInput as error:
        return _profile(request, error)
    tell(request, gettext("Profile saved."))
    return redirect("account")


# A new address can reset the password, so a stolen session must not be enough.
_save_after_confirming = reauthentication_required(_save, app="allauth.account")


def _profile(request: PageRequest, error: InvalidInput | None = None) -> HttpResponse:
    user = cast(AbstractUser, request.user)  # signed_in let nobody else pass
    context = {
        "tab": "profile",
        "error": error,
        "typed": request.POST if error else user,
        "is_incomplete": not (user.email and user.has_usable_password()),
    }
    status = HTTPStatus.BAD_REQUEST if error else HTTPStatus.OK
    return render(request, "people/profile.html", context, status=status)
