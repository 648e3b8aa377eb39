"""The address of the client that sent a request, for the audit log and throttling."""

from __future__ import annotations

import ipaddress
import re

from django.conf import settings
from django.http import HttpRequest

# For clients without an address, as on a Unix socket, in columns that need one.
NO_ADDRESS = "0.0.0.0"
WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](:\d+)?|(?P<four>[\d.]+):\d+")


def client_address(request: HttpRequest) -> str:
    """Return the client's address; behind a proxy, the one that the proxy appended."""
    connected = _address(request.META.get("REMOTE_ADDR", ""))
    if not settings.BEHIND_PROXY:
        return connected
    # Clients control all entries but the last, which our own proxy appends.
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return _address(forwarded.rpartition(",")[2].strip()) or connected


def _address(text: str) -> str:
    """Return an IP address without port and zone; empty if invalid."""
    if found := WITH_PORT.fullmatch(text):
        text = found["six"] or found["four"]
    try:
        return str(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return ""
