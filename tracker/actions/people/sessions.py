"""Ends sessions of the browser."""

from __future__ import annotations

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone


def end_sessions(user_id: int) -> int:
    """Sign the user out everywhere, and return how many sessions that ended.

    Sessions name their user inside, so each one is read. This is done rarely.
    """
    live = Session.objects.filter(expire_date__gt=timezone.now())
    ended = [
        session.session_key
        for session in live.iterator()
        if session.get_decoded().get(SESSION_KEY) == str(user_id)
    ]
    Session.objects.filter(session_key__in=ended).delete()
    return len(ended)
