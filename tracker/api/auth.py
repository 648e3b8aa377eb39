"""Authentication: a token in the Authorization header, or a browser session."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from ninja.security import HttpBearer

from tracker.actions.access import LAST_USE_RESOLUTION, authenticate, digest
from tracker.actor import Actor, link_actor
from tracker.errors import NotAllowed, NotAuthenticated, SecondFactorRequired
from tracker.second_factor import must_add_factor, must_confirm_factor
from tracker.server.caches import Memory

# A token's use is recorded when it is looked up, so the cache must not outlive that
# interval.
REMEMBERED_SECONDS = LAST_USE_RESOLUTION.total_seconds()
# Memory of one cached token, and of all in a server process.
ACTOR_BYTES = 500
MAX_BYTES = 4 * 1024 * 1024

# The actor and the time of authentication, by token digest.
_lately: Memory[str, tuple[Actor, float]] = Memory(MAX_BYTES)


class ApiRequest(HttpRequest):
    """A request with an authenticated caller."""

    auth: Actor


class CallerAuth(HttpBearer):
    """Authenticate the caller, with any scope.

    Endpoints that accept a session only read, so they need no CSRF protection; an
    endpoint that writes must not use this.
    """

    def __call__(self, request: HttpRequest) -> Actor:
        if (actor := link_actor(request)) is not None:
            return actor
        if "Authorization" in request.headers:
            return actor_of_token(request)
        if request.user.is_authenticated:
            if must_add_factor(request) or must_confirm_factor(request):
                raise SecondFactorRequired
            return Actor(request.user.id)
        raise NotAuthenticated

    def authenticate(self, _request: HttpRequest, token: str) -> Actor | None:
        return authenticate(token)


class ReaderAuth(CallerAuth):
    """Authenticate a caller who may read."""

    def __call__(self, request: HttpRequest) -> Actor:
        actor = super().__call__(request)
        if not actor.may_read:
            raise NotAllowed("read")
        return actor


class WriterAuth(CallerAuth):
    """Authenticate by token only, which a cross-site request cannot carry."""

    def __call__(self, request: HttpRequest) -> Actor:
        return actor_of_token(request)


def described_to_callers(
    view: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Require a session or a token; redirect browsers without one to the sign-in page."""
    authenticate_caller = CallerAuth()

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        try:
            authenticate_caller(request)
        except NotAuthenticated:
            # Browsers list HTML first when they open a page; scripts do not.
            if request.headers.get("Accept", "").startswith("text/html"):
                return redirect_to_login(request.get_full_path())
            raise
        return view(request)

    return require_safe(guarded)


def actor_of_token(request: HttpRequest) -> Actor:
    """Return the token's actor; tokens outside the Authorization header are ignored."""
    secret = _secret(request)
    actor = authenticate(secret) if secret else None
    if actor is None:
        raise NotAuthenticated
    _lately.remember(digest(secret), (actor, time.monotonic()), ACTOR_BYTES)
    return actor


def remembered_actor(request: HttpRequest) -> Actor | None:
    """Return the actor that the token authenticated within the last minute, unchecked.

    The token may be revoked by now, so callers must verify it before they act.
    """
    secret = _secret(request)
    found = _lately.get(digest(secret)) if secret else None
    if found is None or time.monotonic() - found[1] > REMEMBERED_SECONDS:
        return None
    return found[0]


def _secret(request: HttpRequest) -> str:
    scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""
