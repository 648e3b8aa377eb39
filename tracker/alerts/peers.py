"""Which machines a webhook may reach: the world, and whom the administrator names.

The check is made on the address that a connection has reached, not on a name that
might mean another address by then.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from tracker.errors import InvalidInput

Address = IPv4Address | IPv6Address

PORTS = {"http": 80, "https": 443}
# Addresses of version 6 that lead to one of version 4, which is their last part.
NAT64 = IPv6Network("64:ff9b::/96")
LAST_PART = 0xFFFFFFFF

LONGEST_URL = 500


def check_url(url: str, allowed_hosts: list[str]) -> None:
    """Refuse what is no plain address of a web server."""
    what = "must be an address such as https://chat.example.com/hooks/…"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidInput("address", what) from None
    host = parts.hostname or ""
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable():
        raise InvalidInput("address", what)
    if parts.scheme not in PORTS or not host or "@" in parts.netloc or " " in url:
        raise InvalidInput("address", what)
    is_usual = port is None or port == PORTS[parts.scheme]
    if not is_usual and host not in allowed_hosts:
        raise InvalidInput(
            "address", "may have another port only on a host of SEAMARK_WEBHOOK_HOSTS"
        )


def is_public(peer: str) -> bool:
    """Say whether the address is one of the world, not of somebody's own network."""
    try:
        address = _meant(ip_address(peer.partition("%")[0]))
    except ValueError:
        return False
    return address.is_global and not address.is_multicast


def _meant(address: Address) -> Address:
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & LAST_PART)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour or address
