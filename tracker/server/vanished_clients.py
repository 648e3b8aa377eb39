"""Notices clients that are gone without a word, so that nobody waits for their bodies.

A machine that loses power or its network ends no connection. The system finds out only
if it is asked to look whether the other side is still there; granian does not ask.
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

# Asked after so long without a word, then again and again; gone after so many times.
IDLE_SECONDS, INTERVAL_SECONDS, UNANSWERED = 30, 10, 3
OPEN_FILES = Path("/dev/fd")


class NoticingVanished:
    """A WSGI application whose server asks at connections whether anybody is there."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application
        self._is_done = False
        self._lock = Lock()

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        # Not sooner: granian listens only after it has the application.
        if not self._is_done:
            with self._lock:
                if not self._is_done:
                    look_after_connections()
                self._is_done = True
        return self._application(environ, start_response)


def look_after_connections() -> None:
    """Have the system look after each TCP socket of this process.

    Connections that are accepted later have what the listening socket has.
    """
    # Few systems have no such folder; there, nobody is asked.
    names = [file.name for file in OPEN_FILES.iterdir()] if OPEN_FILES.is_dir() else []
    for number in map(int, names):
        # Most are no sockets, and that of the listing is closed by now.
        with suppress(OSError):
            known = socket.socket(fileno=number)
            try:
                _look_after(known)
            finally:
                # Never closed, nor a copy: that of a file would undo SQLite's locks.
                known.detach()


def _look_after(connection: socket.socket) -> None:
    is_internet = connection.family in (socket.AF_INET, socket.AF_INET6)
    if not is_internet or connection.type != socket.SOCK_STREAM:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", IDLE_SECONDS),
        # What macOS calls the same.
        ("TCP_KEEPALIVE", IDLE_SECONDS),
        ("TCP_KEEPINTVL", INTERVAL_SECONDS),
        ("TCP_KEEPCNT", UNANSWERED),
    ):
        if (option := getattr(socket, name, None)) is not None:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
