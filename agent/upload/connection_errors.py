"""Says why a server cannot be reached, and what to do about it (pure)."""

from __future__ import annotations

import http.client
import socket
import ssl
import urllib.error
from urllib.parse import urlsplit

from seamark.errors import shown

# Of OpenSSL: what is wrong with a certificate.
_NOT_YET, _EXPIRED = 9, 10
_UNKNOWN_ISSUER = (2, 18, 19, 20, 21)
_WRONG_HOST = (62, 64)
_TRUST = (
    "if it is your own authority's, set SSL_CERT_FILE to a file that holds the "
    "authority's certificate, here and where training runs"
)
_WRONG_CLOCK = "or this machine's clock is wrong"


def explain(error: BaseException, url: str, *, proxy: str | None = None) -> str:
    """Return a sentence without a full stop about a failed request to a server."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    over = f" (over the proxy {proxy})" if proxy else ""
    where = f"{_where(url)}{over}"
    if isinstance(reason, ssl.SSLCertVerificationError):
        return _certificate(reason, where)
    if isinstance(reason, OSError) and "Tunnel connection failed" in str(reason):
        return (
            f"the proxy refuses to connect to {_host(url)} ({_text(reason)}); look at "
            "HTTPS_PROXY, or except the server with NO_PROXY"
        )
    for kind, sentence in _SENTENCES:
        if isinstance(reason, kind):
            host = proxy or _host(url)
            return sentence.format(where=where, host=host, text=_text(reason))
    return f"{where} does not answer, or broke off ({_text(reason)})"


# The first that fits; of errors with children, the children come first.
_SENTENCES: tuple[tuple[type[BaseException], str], ...] = (
    (
        ssl.SSLError,
        "{where} does not speak TLS as it should ({text}); does the address begin with "
        "http:// rather than https://?",
    ),
    (
        socket.gaierror,
        "no address is known for {host}; is it spelled right, and is this machine in "
        "the right network (VPN)?",
    ),
    (ConnectionRefusedError, "nobody listens at {where}; is the server running?"),
    (
        TimeoutError,
        "{where} does not answer in time; is a firewall, a VPN or a proxy (HTTPS_PROXY, "
        "NO_PROXY) in between?",
    ),
    (
        http.client.RemoteDisconnected,
        "{where} hangs up without a word; is it just being started, or is it https://?",
    ),
    (
        http.client.BadStatusLine,
        "what listens at {where} does not speak HTTP; is it https:// instead?",
    ),
)


def redirected(url: str, status: int, target: str | None) -> str:
    """Say that an address only points to another one, which no token is sent to."""
    if not target:
        return f"{url} answers {status}, which is no answer of Seamark's"
    base = target.split("/livez")[0].split("/api/v1")[0].rstrip("/")
    return (
        f"{url} only points to {shown(base)}; if that is the server, give this "
        "address instead, and if not, sign in to the network with a browser first"
    )


def strange(url: str) -> str:
    """Say that something else than a tracker answers."""
    return (
        f"what answers at {url} is not Seamark; is the address right, or does the "
        "network want a sign-in with a browser first?"
    )


def _certificate(error: ssl.SSLCertVerificationError, where: str) -> str:
    code = error.verify_code
    if code == _EXPIRED:
        return (
            f"the certificate of {where} has expired; whoever runs the server has to "
            f"renew it, {_WRONG_CLOCK}"
        )
    if code == _NOT_YET:
        return f"the certificate of {where} is not valid yet, {_WRONG_CLOCK}"
    if code in _WRONG_HOST:
        return (
            f"the certificate of {where} is for another host; use the name that it "
            "is for"
        )
    if code in _UNKNOWN_ISSUER:
        return (
            f"the certificate of {where} is signed by nobody whom this machine trusts; "
            f"{_TRUST}"
        )
    return f"the certificate of {where} is not valid ({error.verify_message})"


def _where(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _text(error: BaseException | str) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(error)
    return text if text and text.isprintable() else type(error).__name__
