"""Accepting an invitation: with a new account, or with the one signed in."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from tracker.actions.people.joining import (
    CannotJoin,
    Refusal,
    find_invitation,
    join,
    join_as_new,
    refusal_of,
)
from tracker.errors import InvalidInput
from tracker.server.client_address import client_address
from web.sign_in.activity import note_sign_in
from web.texts import gettext_lazy
from web.toasts import tell

TITLES = {
    Refusal.REVOKED: gettext_lazy("This invitation was revoked"),
    Refusal.EXPIRED: gettext_lazy("This invitation has expired"),
    Refusal.USED: gettext_lazy("This invitation was already used"),
    Refusal.WITHDRAWN: gettext_lazy("This invitation is no longer valid"),
    Refusal.OTHER_EMAIL: gettext_lazy("This invitation is for another address"),
    Refusal.DEACTIVATED: gettext_lazy("Your membership is deactivated"),
    Refusal.ALREADY_MEMBER: gettext_lazy("You are already a member"),
}


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def join_page(request: HttpRequest, secret: str) -> HttpResponse:
    """Show the invitation; only a POST accepts it, so that link previews do not."""
    invitation = find_invitation(secret)
    if invitation is None:
        return _unknown(request)
    user = request.user if request.user.is_authenticated else None
    refusal = refusal_of(invitation, user)
    if refusal is not None:
        return _refused(request, invitation, refusal)
    if request.method != "POST":
        return _page(request, invitation)
    try:
        return _joined(request, secret)
    except CannotJoin as error:
        return _refused(request, invitation, error.refusal)
    except InvalidInput as error:
        return _page(request, invitation, error=error)


def _joined(request: HttpRequest, secret: str) -> HttpResponse:
    if request.user.is_authenticated:
        join(secret, request.user, address=client_address(request))
        return _welcome(request, find_invitation(secret))
    return _join_as_new(request, secret)


def _join_as_new(request: HttpRequest, secret: str) -> HttpResponse:
    user = join_as_new(
        secret,
        email=_required(request, "email"),
        name=request.POST.get("name", ""),
        password=_required(request, "password"),
        address=client_address(request),
    )
    # Rotates the session key, against session fixation.
    login(request, user)
    note_sign_in(request, "invitation")
    return _welcome(request, find_invitation(secret))


def _required(request: HttpRequest, field: str) -> str:
    value = request.POST.get(field, "")
    if not value:
        raise InvalidInput(field, "is missing")
    return value


# Any: a row of the invitations table, which pages do not import.
def _welcome(request: HttpRequest, invitation: Any) -> HttpResponse:
    name = (invitation.project or invitation.workspace).name
    tell(request, gettext("You joined %(name)s.") % {"name": name})
    if invitation.project is None:
        return HttpResponseRedirect(reverse("projects"))
    place = [invitation.workspace.slug, invitation.project.slug]
    return HttpResponseRedirect(reverse("runs", args=place))


def _page(
    request: HttpRequest, invitation: Any, *, error: InvalidInput | None = None
) -> HttpResponse:
    context = {"invitation": invitation, "error": error, "typed": request.POST}
    status = HTTPStatus.BAD_REQUEST if error else HTTPStatus.OK
    return _kept_secret(render(request, "people/join.html", context, status=status))


def _refused(request: HttpRequest, invitation: Any, refusal: Refusal) -> HttpResponse:
    context = {
        "invitation": invitation,
        "refusal": refusal.value,
        "title": TITLES[refusal],
    }
    is_fine = refusal is Refusal.ALREADY_MEMBER
    status = HTTPStatus.OK if is_fine else HTTPStatus.GONE
    if refusal in (Refusal.OTHER_EMAIL, Refusal.DEACTIVATED):
        status = HTTPStatus.FORBIDDEN
    return _kept_secret(
        render(request, "people/cannot_join.html", context, status=status)
    )


def _unknown(request: HttpRequest) -> HttpResponse:
    context = {"title": gettext("This link is not valid"), "refusal": "unknown"}
    status = HTTPStatus.NOT_FOUND
    return _kept_secret(
        render(request, "people/cannot_join.html", context, status=status)
    )


def _kept_secret(response: HttpResponse) -> HttpResponse:
    # The address is the secret, so it is not passed on as a referrer.
    response["Referrer-Policy"] = "strict-origin"
    return response
