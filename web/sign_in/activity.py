"""Records sign-ins, and once in ten minutes that a session is still in use."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from tracker.actions.people.audit import Action, note
from tracker.actions.people.sessions import LAST_SEEN_RESOLUTION, record_session
from tracker.server.client_address import client_address

SEEN_AT = "seen_at"
# The actor of failed sign-ins in the audit log.
NOT_SIGNED_IN = "not signed in"


class SessionActivity:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        # Views that need no user do not read the session, and this does not either.
        if request.session.accessed:
            seen_at = request.session.get(SEEN_AT)
            if seen_at and time.time() - seen_at > LAST_SEEN_RESOLUTION.total_seconds():
                _record(request)
        return response


def note_sign_in(request: HttpRequest, method: str) -> None:
    """Add a new session to the user's list and to the audit log."""
    _record(request)
    note(
        Action.SIGNED_IN,
        request.user,
        by=request.user.pk,
        address=client_address(request),
        method=method,
    )


def _record(request: HttpRequest) -> None:
    if request.session.session_key is None or not request.user.is_authenticated:
        return
    request.session[SEEN_AT] = int(time.time())
    record_session(
        request.session.session_key,
        request.user.pk,
        address=client_address(request),
        user_agent=request.headers.get("User-Agent", ""),
    )
