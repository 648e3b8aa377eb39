"""Which proxy is between this process and a server, and whether it can be used."""

from __future__ import annotations

import urllib.request
from urllib.parse import SplitResult, urlsplit


def find_proxy(url: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment names for an address, if any."""
    if urllib.request.proxy_bypass(url.hostname or ""):
        return None
    found = urllib.request.getproxies().get(url.scheme)
    if not found:
        return None
    return urlsplit(found if "://" in found else f"http://{found}")


def proxy_problem(url: SplitResult, proxy: SplitResult) -> str:
    """Say in a sentence why nothing can be sent over a proxy; "" if it can.

    One that expects TLS is not spoken to in clear: its password would be for all to read.
    """
    variable = f"{url.scheme.upper()}_PROXY"
    advice = f"set {variable} to an http:// proxy, or except the server with NO_PROXY"
    if proxy.scheme not in ("http", "https"):
        return f"{variable} names a proxy of another kind ({proxy.scheme}://); {advice}"
    if proxy.scheme == "https" and url.scheme == "https":
        return (
            f"{variable} names a proxy that is spoken to with TLS (https://), which is"
            f" not done for a server with TLS; {advice}"
        )
    return ""
