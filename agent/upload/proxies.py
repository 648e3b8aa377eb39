"""Finds the proxy between this process and a server, and checks whether it is usable."""

from __future__ import annotations

import urllib.request
from urllib.parse import SplitResult, urlsplit


def find_proxy(url: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment sets for an address, if any."""
    if urllib.request.proxy_bypass(url.hostname or ""):
        return None
    found = urllib.request.getproxies().get(url.scheme)
    if not found:
        return None
    return urlsplit(found if "://" in found else f"http://{found}")


def proxy_problem(url: SplitResult, proxy: SplitResult) -> str:
    """Return why nothing can be sent over a proxy; "" if it is usable.

    A proxy that expects TLS is not used without it, because its password would be
    readable on the network.
    """
    variable = f"{url.scheme.upper()}_PROXY"
    advice = f"set {variable} to an http:// proxy, or exclude the server with NO_PROXY"
    if proxy.scheme not in ("http", "https"):
        return f"{variable} names an unsupported proxy ({proxy.scheme}://); {advice}"
    if proxy.scheme == "https" and url.scheme == "https":
        return (
            f"{variable} names a proxy with TLS (https://), which is not supported"
            f" for a server with TLS; {advice}"
        )
    return ""
