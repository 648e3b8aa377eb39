"""Signs in the user named in a header of an authenticating proxy.

The header is accepted only with the proxy's secret or from its address: a client that
reaches the server directly can send any header.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import login, logout
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from tracker.queries.people.accounts import account_with_email
from tracker.second_factor import BY_PROXY
from web.sign_in.activity import note_sign_in

SECRET_HEADER = "X-Seamark-Proxy-Secret"


class ProxySignIn:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.PROXY_USER_HEADER:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        email = request.headers.get(settings.PROXY_USER_HEADER, "").strip().lower()
        # An API key in the request takes precedence.
        if email and "Authorization" not in request.headers and is_trusted(request):
            _sign_in(request, email)
        return self.get_response(request)


def is_trusted(request: HttpRequest) -> bool:
    """Return whether the request comes from the proxy."""
    sent = request.headers.get(SECRET_HEADER, "")
    if settings.PROXY_SECRET and constant_time_compare(sent, settings.PROXY_SECRET):
        return True
    try:
        # The peer itself; X-Forwarded-For names others.
        peer = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    return any(peer in network for network in settings.PROXY_ADDRESSES)


def _sign_in(request: HttpRequest, email: str) -> None:
    if getattr(request.user, "email", "") == email:
        return
    user = account_with_email(email)
    if user is None or not user.is_active or user.is_service:
        if request.session.get(BY_PROXY):
            # The proxy has a different user now; end the previous user's session.
            logout(request)
        # The sign-in page names the address that has no account.
        request.META["seamark.proxy_email"] = email
        return
    # Ends a session of another user, and gives this one a new key.
    login(request, user)
    request.session[BY_PROXY] = True
    note_sign_in(request, "proxy")
