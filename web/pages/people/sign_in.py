"""Signing in with a password or a one-time link, and signing out."""

from __future__ import annotations

from typing import Any

from allauth.account.views import LoginView
from allauth.core import ratelimit
from django.conf import settings
from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from tracker.actions.access import use_sign_in_link
from tracker.actions.people.audit import Action, note
from tracker.actions.people.mail import can_mail
from tracker.actions.people.sessions import forget_session
from tracker.server.client_address import client_address
from web.session import local_path
from web.sign_in.activity import NOT_SIGNED_IN, note_sign_in

form_methods = require_http_methods(["GET", "HEAD", "POST"])


class SignInView(LoginView):
    template_name = "people/sign_in.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {
            **super().get_context_data(**kwargs),
            "unknown_email": self.request.META.get("seamark.proxy_email", ""),
            "can_mail": can_mail(),
            "link_is_spent": "spent" in self.request.GET,
            "provider_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        }


sign_in = form_methods(SignInView.as_view())


@form_methods
def sign_in_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Sign in on POST only: programs that preview links must not use them up."""
    if request.method == "POST":
        return _use_link(request, secret)

    response = render(
        request, "people/sign_in_link.html", {"next": request.GET.get("next", "")}
    )
    # The address is secret: send only the origin as the referrer.
    response["Referrer-Policy"] = "strict-origin"
    return response


def _use_link(request: HttpRequest, secret: str) -> HttpResponse:
    if not ratelimit.consume(request, action="sign_in_link"):
        refusal: HttpResponse = ratelimit.respond_429(request)
        return refusal
    user = use_sign_in_link(secret)
    if user is None:
        address = client_address(request)
        note(
            Action.SIGN_IN_FAILED,
            "one-time link",
            actor=NOT_SIGNED_IN,
            address=address,
            method="link",
        )
        # Refusing here would write the secret into the log, as part of the address.
        return HttpResponseRedirect(reverse("sign-in") + "?spent")
    # Rotates the session key, against session fixation.
    login(request, user)
    # No second factor: the link restores access for users who lost it.
    note_sign_in(request, "link")
    return HttpResponseRedirect(local_path(request, request.POST.get("next", "")))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        address = client_address(request)
        forget_session(request.session.session_key)
        note(Action.SIGNED_OUT, request.user, by=request.user.pk, address=address)
    # Also ends a sign-in that waits for its second factor.
    logout(request)
    return redirect("sign-in")


@require_safe
def inactive(request: HttpRequest) -> HttpResponse:
    return render(request, "people/inactive.html")
