"""Who is calling: a token in the Authorization header, or a browser's session."""

from __future__ import annotations

from django.http import HttpRequest
from ninja.security import HttpBearer

from tracker.actions.access import authenticate
from tracker.actor import Actor
from tracker.errors import NotAllowed, NotAuthenticated


class ApiRequest(HttpRequest):
    """A request whose caller is known."""

    auth: Actor


class CallerAuth(HttpBearer):
    """Knows the caller, whatever their scope.

    Endpoints that use a session only read, so they need no protection against
    forged requests; none that writes may use this.
    """

    def __call__(self, request: HttpRequest) -> Actor:
        if "Authorization" in request.headers:
            return actor_of_token(request)
        if request.user.is_authenticated:
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


def actor_of_token(request: HttpRequest) -> Actor:
    """Return the token's actor; a token anywhere but in the header is not seen."""
    scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    actor = authenticate(secret.strip()) if scheme.lower() == "bearer" else None
    if actor is None:
        raise NotAuthenticated
    return actor
