"""The address of the client that sent a request, for the audit log and throttling."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """Return the client's address; behind a proxy, the one that the proxy added."""
    connected: str = request.META.get("REMOTE_ADDR", "")
    if not settings.BEHIND_PROXY:
        return connected
    # Clients choose all entries but the last, which our own proxy appends.
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return forwarded.rpartition(",")[2].strip() or connected
