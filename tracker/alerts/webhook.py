"""Posts to a web server that somebody else chose, and believes nothing it says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import httpcore

from tracker.alerts.message import Message, json_of, signature_of
from tracker.alerts.peers import is_public

SECONDS = 5.0
# The first digit of what a server answers that took a message.
SUCCESS = 2


class NotDelivered(Exception):
    """Why a message did not arrive, as a sentence for the channel's owner."""


class _CheckedBackend(httpcore.SyncBackend):
    """Connects, and hangs up where that led into a network of one's own."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = super().connect_tcp(host, port, timeout, local_address, socket_options)
        peer = stream.get_extra_info("server_addr")
        if not is_public(str(peer[0])):
            stream.close()
            raise NotDelivered(
                f"{host} is an address of an own network; the administrator may add it"
                " to SEAMARK_WEBHOOK_HOSTS."
            )
        return stream


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
    backend = httpcore.SyncBackend() if is_trusted else _CheckedBackend()
    timeouts = dict.fromkeys(("connect", "read", "write", "pool"), SECONDS)
    try:
        with (
            httpcore.ConnectionPool(network_backend=backend) as pool,
            pool.stream(
                "POST",
                url,
                headers=headers,
                content=body,
                extensions={"timeout": timeouts},
            ) as response,
        ):
            status = response.status
    except httpcore.TimeoutException:
        raise NotDelivered(f"It did not answer within {SECONDS:g} s.") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
        raise NotDelivered(f"It cannot be reached: {error}.") from error
    if status // 100 != SUCCESS:
        raise NotDelivered(f"It answered {status}.")
