"""Speaks HTTP with a tracker that may die at any moment."""

from __future__ import annotations

import hashlib
import http.client
import json
import threading
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from seamark.upload.responses import Reply

CONTENT_TYPE = "application/vnd.seamark.frames"
# Less than an agent waits: a stopped process costs the clients this much a time.
SEND_SECONDS = 5.0
READ_SECONDS = 60.0
# Errors of a server that dies, and of a stopped one.
FAILURES = (OSError, http.client.HTTPException)


class NoAnswer(Exception):
    """The effect of the request is unknown."""


class NobodyListens(NoAnswer):
    """The request was never sent."""


@dataclass(frozen=True, slots=True)
class Address:
    """Port of a tracker on this machine, and its token."""

    port: int
    token: str


class Connection:
    """One connection for each address, kept while it works; for one thread."""

    def __init__(self) -> None:
        self._open: dict[int, http.client.HTTPConnection] = {}

    def send(self, address: Address, spool_id: UUID, body: bytes) -> Reply:
        """Send a batch once, or raise NoAnswer."""
        headers = {"Content-Type": CONTENT_TYPE}
        path = f"/api/v1/ingest/{spool_id}"
        return self._exchange(address, "POST", path, (body, headers), SEND_SECONDS)

    def send_content(self, address: Address, content: bytes) -> Reply:
        """Send a file's content in one part, once, or raise NoAnswer."""
        headers = {"Content-Type": "application/octet-stream"}
        digest = hashlib.sha256(content).hexdigest()
        path = f"/api/v1/blobs/{digest}?size={len(content)}&offset=0"
        return self._exchange(address, "POST", path, (content, headers), READ_SECONDS)

    # Any: JSON.
    def get(self, address: Address, place: str, **query: object) -> Any:
        """Read from the API, or raise NoAnswer."""
        path = f"/api/v1{place}?{urlencode(query, doseq=True)}"
        reply = self._exchange(address, "GET", path, (b"", {}), READ_SECONDS)
        if reply.status != http.client.OK:
            raise NoAnswer(f"{reply.status}: {reply.body[:200]!r}")
        return json.loads(reply.body)

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()
        self._open.clear()

    def _exchange(
        self,
        address: Address,
        method: str,
        path: str,
        content: tuple[bytes, dict[str, str]],
        seconds: float,
    ) -> Reply:
        body, headers = content
        connection = self._open.setdefault(
            address.port, http.client.HTTPConnection("127.0.0.1", address.port)
        )
        connection.timeout = seconds
        if connection.sock is not None:
            connection.sock.settimeout(seconds)
        try:
            connection.request(
                method,
                path,
                body,
                {**headers, "Authorization": f"Bearer {address.token}"},
            )
            response = connection.getresponse()
            answer = response.read()
        except ConnectionRefusedError as error:
            connection.close()
            raise NobodyListens(str(error)) from error
        except FAILURES as error:
            connection.close()
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        return Reply(response.status, response.headers.get("Retry-After"), answer)


def is_alive(address: Address) -> bool:
    """Return whether a web server answers, independent of its database."""
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=5)
    with closing(connection), suppress(*FAILURES):
        connection.request("GET", "/livez")
        return connection.getresponse().status == http.client.OK
    return False


class Tally:
    """Counts answers by status, from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[int, int] = {}

    def add(self, status: int) -> None:
        with self._lock:
            self._counts[status] = self._counts.get(status, 0) + 1

    def of(self, status: int) -> int:
        return self._counts.get(status, 0)
