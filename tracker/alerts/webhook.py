"""Posts alerts to user-configured URLs; their responses are untrusted."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpcore

from tracker.alerts.message import Message, json_of, signature_of
from tracker.alerts.peers import is_public

# Total time for connecting, sending and the head of the response.
SECONDS = 5.0
# The first digit of a success status.
SUCCESS = 2


class NotDelivered(Exception):
    """Why a message was not delivered, as a sentence for the channel's owner."""


class _Deadline:
    """The end of the exchange, however slowly bytes are transferred."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def seconds_left(self) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise httpcore.TimeoutException
        return left


class _BoundedStream(httpcore.NetworkStream):
    """Limits each read and write to the remaining time."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: _Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        return self._stream.read(max_bytes, self._deadline.seconds_left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._stream.write(buffer, self._deadline.seconds_left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        left = self._deadline.seconds_left()
        stream = self._stream.start_tls(ssl_context, server_hostname, left)
        return _BoundedStream(stream, self._deadline)

    # Any: httpcore's values.
    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.SyncBackend):
    """Connects within the deadline, and only to addresses it has checked."""

    def __init__(self, deadline: _Deadline, *, is_trusted: bool) -> None:
        self._deadline = deadline
        self._is_trusted = is_trusted

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Try each address of the host until the deadline."""
        *others, last = (
            _addresses(host, port)
            if self._is_trusted
            else _public_addresses(host, port)
        )
        for address in others:
            seconds = self._deadline.seconds_left() / 2
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                stream = super().connect_tcp(
                    address, port, seconds, local_address, socket_options
                )
                return _BoundedStream(stream, self._deadline)
        seconds = self._deadline.seconds_left()
        stream = super().connect_tcp(last, port, seconds, local_address, socket_options)
        return _BoundedStream(stream, self._deadline)


def _addresses(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _public_addresses(host: str, port: int) -> list[str]:
    """Return the addresses of a host; raise NotDelivered unless all are public.

    No connection is made before this check, and unknown names get the same message: a
    user must not learn which hosts and ports of the server's network exist.
    """
    addresses: list[str] = []
    with suppress(OSError, UnicodeError):  # UnicodeError: invalid host name
        addresses = _addresses(host, port)
    if not addresses or not all(map(is_public, addresses)):
        raise NotDelivered(
            f"{host} does not resolve to public addresses only. Ask the administrator"
            " to add the host to SEAMARK_WEBHOOK_HOSTS if alerts may be posted there."
        )
    return addresses


def post(
    url: str,
    secret: str,
    message: Message,
    allowed_hosts: list[str],
    *,
    body: bytes | None = None,
) -> None:
    """Post the message; raise NotDelivered unless the receiver accepts it.

    `body` is the message in the service's format. Ignores redirects, proxies, and
    everything in the response except its status.
    """
    body = body or json_of(message)
    headers: dict[bytes | str, bytes | str] = {
        "Content-Type": "application/json",
        "User-Agent": "seamark",
        "Idempotency-Key": str(message.id),
        "Seamark-Signature": f"sha256={signature_of(body, secret)}",
    }
    is_trusted = (urlsplit(url).hostname or "") in allowed_hosts
    backend = _Backend(_Deadline(SECONDS), is_trusted=is_trusted)
    try:
        with (
            httpcore.ConnectionPool(network_backend=backend) as pool,
            pool.stream("POST", url, headers=headers, content=body) as response,
        ):
            status = response.status
    except httpcore.TimeoutException:
        raise NotDelivered(f"It did not answer within {SECONDS:g} s.") from None
    except (
        httpcore.NetworkError,
        httpcore.ProtocolError,
        OSError,
        UnicodeError,  # not a valid host name
    ) as error:
        raise NotDelivered(f"It cannot be reached: {error}.") from error
    if status // 100 != SUCCESS:
        raise NotDelivered(f"It answered {status}.")
