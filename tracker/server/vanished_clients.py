"""TCP keep-alive for client connections, so that no thread waits for a vanished client.

A machine that loses power or its network closes no connection. The kernel notices only
with keep-alive probes, which granian does not enable.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

# Seconds until the first probe, seconds between probes, and unanswered probes until the
# connection is closed.
IDLE_SECONDS, INTERVAL_SECONDS, UNANSWERED = 30, 10, 3
OPEN_FILES = Path("/dev/fd")


class NoticingVanished:
    """A WSGI application that enables keep-alive on the server's sockets."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application
        self._is_done = False
        self._lock = Lock()

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        # At the first request: granian starts listening after it has loaded the
        # application.
        if not self._is_done:
            with self._lock:
                if not self._is_done:
                    look_after_connections()
                self._is_done = True
        return self._application(environ, start_response)


def look_after_connections() -> None:
    """Enable keep-alive on each TCP socket of this process.

    Accepted connections inherit it from the listening socket.
    """
    # Systems without this folder get no keep-alive.
    names = [file.name for file in OPEN_FILES.iterdir()] if OPEN_FILES.is_dir() else []
    for number in map(int, names):
        # Most descriptors are no sockets, and the one of the listing is already closed.
        with suppress(OSError):
            known = socket.socket(fileno=number)
            try:
                _look_after(known)
            finally:
                # Neither closed nor duplicated: closing a copy of a file would release
                # SQLite's locks.
                known.detach()


def _look_after(connection: socket.socket) -> None:
    is_internet = connection.family in (socket.AF_INET, socket.AF_INET6)
    if not is_internet or connection.type != socket.SOCK_STREAM:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", IDLE_SECONDS),
        # The name on macOS.
        ("TCP_KEEPALIVE", IDLE_SECONDS),
        ("TCP_KEEPINTVL", INTERVAL_SECONDS),
        ("TCP_KEEPCNT", UNANSWERED),
    ):
        if (option := getattr(socket, name, None)) is not None:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
