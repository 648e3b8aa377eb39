"""Messages about the last action, with an undo link where possible.

A toast is in a cookie until the next full page, so that forms can redirect, and a
shared address does not repeat an old message.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.messages.storage.cookie import CookieStorage
from django.http import HttpRequest

# Isolates a name, which may be written from right to left.
QUOTED = "“\u2068{}\u2069”"
LONGEST_NAME = 80


class ToastCookie(CookieStorage):
    """Kept for this host only, like the session."""

    cookie_name = settings.TOAST_COOKIE_NAME


def tell(request: HttpRequest, text: str, *, undo: str = "") -> None:
    """Show this on the next page; posting to `undo` reverts the action."""
    messages.info(request, text, extra_tags=undo)


def quoted(name: str) -> str:
    """Return a name as a part of a sentence, its end left out if it is long."""
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 1]}…"
    return QUOTED.format(name)
