"""Who is calling: a token in the Authorization header, or a browser's session."""

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

# Each time a token is looked up, its use is noted; so it must be, that often.
REMEMBERED_SECONDS = LAST_USE_RESOLUTION.total_seconds()
# What is remembered of a token takes about so much, and of all in a server process.
ACTOR_BYTES = 500
MAX_BYTES = 4 * 1024 * 1024

# By the digests of their tokens: whom they let in, and when.
_lately: Memory[str, tuple[Actor, float]] = Memory(MAX_BYTES)


class ApiRequest(HttpRequest):
    """A request whose caller is known."""

    auth: Actor


class CallerAuth(HttpBearer):
    """Knows the caller, whatever their scope.

    Endpoints that use a session only read, so they need no protection against
    forged requests; none that writes may use this.
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
    """Knows the caller, who must be allowed to read."""

    def __call__(self, request: HttpRequest) -> Actor:
        actor = super().__call__(request)
        if not actor.may_read:
            raise NotAllowed("read")
        return actor


class WriterAuth(CallerAuth):
    """Knows the caller by a token alone, which no foreign page can make a browser send."""

    def __call__(self, request: HttpRequest) -> Actor:
        return actor_of_token(request)


def described_to_callers(
    view: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Require a session or a token, and send browsers without one to the sign-in page."""
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
    """Return the token's actor; a token anywhere but in the header is not seen."""
    secret = _secret(request)
    actor = authenticate(secret) if secret else None
    if actor is None:
        raise NotAuthenticated
    _lately.remember(digest(secret), (actor, time.monotonic()), ACTOR_BYTES)
    return actor


def remembered_actor(request: HttpRequest) -> Actor | None:
    """Return whom the token let in within the last minute, without looking it up.

    It may be worthless by now. So this is for those who find out before they do
    anything for the actor.
    """
    secret = _secret(request)
    found = _lately.get(digest(secret)) if secret else None
    if found is None or time.monotonic() - found[1] > REMEMBERED_SECONDS:
        return None
    return found[0]


def _secret(request: HttpRequest) -> str:
    scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""
