"""Posts to a web server that somebody else chose, and believes nothing it says."""

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

# For all of it: connecting, asking, and the head of the answer.
SECONDS = 5.0
# The first digit of what a server answers that took a message.
SUCCESS = 2


class NotDelivered(Exception):
    """Why a message did not arrive, as a sentence for the channel's owner."""


class _Deadline:
    """When the exchange must be over, however slowly bytes come and go."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def seconds_left(self) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise httpcore.TimeoutException
        return left


class _BoundedStream(httpcore.NetworkStream):
    """Gives each read and write what is left of the time, whatever it asks for."""

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

    # Any: what httpcore says.
    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.SyncBackend):
    """Connects in time, and hangs up where that led into a network of one's own."""

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
        stream = self._connect(host, port, local_address, socket_options)
        peer = stream.get_extra_info("server_addr")
        if not self._is_trusted and not is_public(str(peer[0])):
            stream.close()
            raise NotDelivered(
                f"{host} is an address of an own network; the administrator may add it"
                " to SEAMARK_WEBHOOK_HOSTS."
            )
        return _BoundedStream(stream, self._deadline)

    def _connect(
        self,
        host: str,
        port: int,
        local_address: str | None,
        socket_options: Iterable[Any] | None,
    ) -> httpcore.NetworkStream:
        """Try each address of the host, as long as there is time."""
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        for address in addresses[:-1]:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return super().connect_tcp(
                    address,
                    port,
                    self._deadline.seconds_left() / 2,
                    local_address,
                    socket_options,
                )
        left = self._deadline.seconds_left()
        return super().connect_tcp(
            addresses[-1], port, left, local_address, socket_options
        )


def post(url: str, secret: str, message: Message, allowed_hosts: list[str]) -> None:
    """Send the message; raise NotDelivered unless it was taken.

    Redirects are not followed, proxies not asked, and of the answer only the status
    is read.
    """
    body = json_of(message)
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
        UnicodeError,  # of a name that no host can have
    ) as error:
        raise NotDelivered(f"It cannot be reached: {error}.") from error
    if status // 100 != SUCCESS:
        raise NotDelivered(f"It answered {status}.")
