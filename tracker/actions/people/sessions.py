"""Records and ends browser sessions."""

from __future__ import annotations

from datetime import datetime, timedelta

from allauth.usersessions.models import UserSession
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from tracker.actions.people.audit import Action, note
from tracker.errors import NotFound
from tracker.models import User
from tracker.server.client_address import NO_ADDRESS

# Precision of "last seen"; each update is a write.
LAST_SEEN_RESOLUTION = timedelta(minutes=10)
USER_AGENT_LENGTH = 200


def record_session(
    session_key: str, user_id: int, *, address: str, user_agent: str
) -> None:
    """Record the use of a session, with address and browser."""
    seen = {
        "user_id": user_id,
        "ip": address or NO_ADDRESS,
        "user_agent": user_agent[:USER_AGENT_LENGTH],
        "last_seen_at": timezone.now(),
    }
    UserSession.objects.update_or_create(session_key=session_key, defaults=seen)


def forget_session(session_key: str | None) -> None:
    """Remove a session from the user's list when it signs out."""
    UserSession.objects.filter(session_key=session_key).delete()


def end_session(user_id: int, row_id: int, *, address: str = "") -> None:
    """End one of the user's own sessions at once."""
    row = UserSession.objects.filter(user_id=user_id, id=row_id).first()
    if row is None:
        raise NotFound("session")
    with transaction.atomic():
        _delete([row.session_key])
        _note(user_id, address, 1)


def end_sessions(
    user_id: int, *, except_key: str | None = None, address: str = ""
) -> int:
    """Sign the user out of all sessions but one; return the number of ended ones.

    The user is stored inside the session, so each one is decoded. This is rare.
    """
    live = Session.objects.filter(expire_date__gt=timezone.now())
    keys = [
        session.session_key
        for session in live.exclude(session_key=except_key).iterator()
        if session.get_decoded().get(SESSION_KEY) == str(user_id)
    ]
    with transaction.atomic():
        _delete(keys)
        if keys:
            _note(user_id, address, len(keys))
    return len(keys)


def delete_ended_sessions(now: datetime | None = None) -> None:
    """Delete records of sessions that no longer exist."""
    before = (now or timezone.now()) - LAST_SEEN_RESOLUTION
    existing = Session.objects.values("session_key")
    UserSession.objects.filter(last_seen_at__lt=before).exclude(
        session_key__in=existing
    ).delete()


def _delete(keys: list[str]) -> None:
    Session.objects.filter(session_key__in=keys).delete()
    UserSession.objects.filter(session_key__in=keys).delete()


def _note(user_id: int, address: str, count: int) -> None:
    user = User.objects.get(id=user_id)
    note(Action.SESSIONS_ENDED, user, by=user, address=address, count=count)
