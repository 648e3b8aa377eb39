"""The sessions of a user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.utils import timezone

# The first that occurs in a User-Agent header names the browser or the system.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("Chrome", "Chrome"),
    ("CriOS", "Chrome"),
    ("Safari", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
PRODUCT = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class SessionSummary:
    id: int
    device: str
    address: str
    signed_in_at: datetime
    last_seen_at: datetime
    is_current: bool


def sessions_of(user_id: int, current_key: str | None) -> list[SessionSummary]:
    """Return the user's sessions: this one first, then the last seen."""
    existing = Session.objects.filter(expire_date__gt=timezone.now())
    rows = UserSession.objects.filter(
        user_id=user_id, session_key__in=existing.values("session_key")
    ).order_by("-last_seen_at")
    summaries = [
        SessionSummary(
            id=row.id,
            device=device_of(row.user_agent),
            address=row.ip,
            signed_in_at=row.created_at,
            last_seen_at=row.last_seen_at,
            is_current=row.session_key == current_key,
        )
        for row in rows
    ]
    return sorted(summaries, key=lambda summary: not summary.is_current)


def device_of(user_agent: str) -> str:
    """Return the browser and system: "Firefox on Linux"."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    product = PRODUCT.match(user_agent)
    return browser or system or (product[0] if product else "Unknown device")
