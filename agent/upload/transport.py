"""Sends batches over HTTP: one kept connection, no redirects, size-limited replies."""

from __future__ import annotations

import codecs
import http.client
import os
import ssl
from base64 import b64encode
from typing import Protocol
from urllib.parse import SplitResult, unquote, urlsplit

import zstandard

from seamark.errors import NoAnswer
from seamark.servers import Server
from seamark.upload.connection_errors import explain
from seamark.upload.proxies import find_proxy, proxy_problem
from seamark.upload.responses import Reply
from seamark.version import VERSION

# Imported early, because the first host lookup imports it. A child forked during that
# import would deadlock in its own lookup.
codecs.lookup("idna")

CONTENT_TYPE = "application/vnd.seamark.frames"
FILE_CONTENT_TYPE = "application/octet-stream"
_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 30.0
_LARGEST_REPLY_BYTES = 1024 * 1024
# Below this, the compression header is larger than the savings.
_SMALLEST_COMPRESSED_BYTES = 200


class Transport(Protocol):
    """Sends batches and files, and returns the replies."""

    def send(self, spool_id: str, body: bytes) -> Reply:
        """Send a batch of a spool; raises NoAnswer."""

    def report_gone(self, spool_id: str, after: int, time: int) -> Reply:
        """Report that a process has exited, and when it last wrote; raises NoAnswer.

        `after` is its last known frame, `time` is in microseconds since 1970.
        """

    def send_part(self, digest: str, size: int, offset: int, part: bytes) -> Reply:
        """Send a part of a file's content, or an empty one as a query; raises NoAnswer."""


class HttpTransport:
    """Sends to one server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._base = urlsplit(server.url)
        self._compress = zstandard.ZstdCompressor(level=3).compress
        self._connection: http.client.HTTPConnection | None = None
        self._target_prefix = ""
        self._extra_headers: dict[str, str] = {}
        self._pid = os.getpid()

    def send(self, spool_id: str, body: bytes) -> Reply:
        """Send a batch of a spool; raises NoAnswer."""
        headers = self._headers(CONTENT_TYPE)
        if len(body) > _SMALLEST_COMPRESSED_BYTES:
            body = self._compress(body)
            headers["Content-Encoding"] = "zstd"
        return self._send(f"/api/v1/ingest/{spool_id}", body, headers)

    def report_gone(self, spool_id: str, after: int, time: int) -> Reply:
        """Report that the process of a spool has exited, in a request without a body."""
        place = f"/api/v1/ingest/{spool_id}/gone?after={after}&time={time}"
        return self._send(place, b"", self._headers())

    def send_part(self, digest: str, size: int, offset: int, part: bytes) -> Reply:
        """Send a part of a file's content uncompressed; checkpoints do not compress."""
        place = f"/api/v1/blobs/{digest}?size={size}&offset={offset}"
        return self._send(place, part, self._headers(FILE_CONTENT_TYPE))

    def _headers(self, content_type: str = "") -> dict[str, str]:
        headers = {
            "Authorization": f"Bearer {self.server.token}",
            "User-Agent": f"seamark-agent/{VERSION}",
        }
        return {**headers, "Content-Type": content_type} if content_type else headers

    def _send(self, place: str, body: bytes, headers: dict[str, str]) -> Reply:
        was_kept = self._connection is not None
        try:
            return self._exchange(place, body, headers)
        except _FAILURES as error:
            self.close()
            # The server may have closed the kept connection.
            if not was_kept or isinstance(error, TimeoutError):
                raise self._no_answer(error) from error
        try:
            return self._exchange(place, body, headers)
        except _FAILURES as error:
            self.close()
            raise self._no_answer(error) from error

    def close(self) -> None:
        """Close the connection; the next batch opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _no_answer(self, error: Exception) -> NoAnswer:
        proxy = find_proxy(self._base)
        return NoAnswer(explain(error, self.server.url, proxy=proxy and proxy.hostname))

    def _exchange(self, place: str, body: bytes, headers: dict[str, str]) -> Reply:
        connection = self._connection or self._connect()
        target = f"{self._target_prefix}{self._base.path}{place}"
        is_sent = True
        try:
            connection.request("POST", target, body, {**headers, **self._extra_headers})
        except (BrokenPipeError, ConnectionResetError):
            # A server that rejects a batch may stop reading but still send the reason.
            is_sent = False
        response = connection.getresponse()
        content = response.read(_LARGEST_REPLY_BYTES + 1)
        if len(content) > _LARGEST_REPLY_BYTES or response.will_close or not is_sent:
            self.close()
        return Reply(response.status, response.headers.get("Retry-After"), content)

    def _connect(self) -> http.client.HTTPConnection:
        is_https = self._base.scheme == "https"
        proxy = find_proxy(self._base)
        if proxy and (problem := proxy_problem(self._base, proxy)):
            raise NoAnswer(problem)
        to = proxy or self._base
        port = to.port or (443 if to.scheme == "https" else 80)
        connection: http.client.HTTPConnection
        # For a server with TLS, a proxy first opens a tunnel.
        if is_https or to.scheme == "https":
            connection = http.client.HTTPSConnection(
                to.hostname or "",
                port,
                timeout=_CONNECT_SECONDS,
                context=ssl.create_default_context(),
            )
        else:
            connection = http.client.HTTPConnection(
                to.hostname or "", port, timeout=_CONNECT_SECONDS
            )
        self._target_prefix, self._extra_headers = "", {}
        if proxy and is_https:
            connection.set_tunnel(
                self._base.hostname or "", self._base.port or 443, _proxy_headers(proxy)
            )
        elif proxy:
            self._target_prefix = f"http://{self._base.netloc}"
            self._extra_headers = _proxy_headers(proxy)
        connection.connect()
        connection.sock.settimeout(_ANSWER_SECONDS)
        self._connection = connection
        return connection


# Errors of an unreachable or invalid server: network and TLS (OSError), invalid HTTP,
# invalid headers.
_FAILURES = (OSError, http.client.HTTPException, ValueError)


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if not proxy.username:
        return {}
    secret = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(secret.encode()).decode()}"}
