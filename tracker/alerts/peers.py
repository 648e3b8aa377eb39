"""Decides which addresses a webhook may reach: public ones, and configured hosts."""

from __future__ import annotations

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from urllib.parse import urlsplit

from tracker.errors import InvalidInput

Address = IPv4Address | IPv6Address

PORTS = {"http": 80, "https": 443}
# RFC 6052: the last 32 bits are an IPv4 address.
NAT64 = IPv6Network("64:ff9b::/96")
# The only IPv6 range that IANA has opened for global unicast. `ipaddress` treats many
# addresses outside it as global, among them local NAT64 prefixes (RFC 8215),
# IPv4-compatible and site-local addresses.
GLOBAL_UNICAST = IPv6Network("2000::/3")
# Ranges that Python 3.11 counts as global although no host on the internet has them:
# 6to4 relays (RFC 7526) and documentation (RFC 9637).
NOT_PUBLIC = (IPv4Network("192.88.99.0/24"), IPv6Network("3fff::/20"))

LONGEST_URL = 500


def check_url(url: str, allowed_hosts: list[str]) -> None:
    """Raise InvalidInput unless the URL is a plain web address."""
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


def is_public(text: str) -> bool:
    """Return whether the address belongs to a host on the internet."""
    try:
        address = _translated(ip_address(text.partition("%")[0]))
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return False
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not any(address in network for network in NOT_PUBLIC)
    )


def _translated(address: Address) -> Address:
    """Return the IPv4 address to which gateways translate an IPv6 address, if any."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(address.packed[-4:])
    # Teredo addresses are not global, so they need no translation.
    return address.ipv4_mapped or address.sixtofour or address
