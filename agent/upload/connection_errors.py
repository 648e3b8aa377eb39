"""Explains why a server cannot be reached and how to fix it (pure)."""

from __future__ import annotations

import http.client
import socket
import ssl
import urllib.error
from urllib.parse import urlsplit

from seamark.errors import shown

# OpenSSL error codes of certificate verification.
_NOT_YET, _EXPIRED = 9, 10
_UNKNOWN_ISSUER = (2, 18, 19, 20, 21)
_WRONG_HOST = (62, 64)
_TRUST = (
    "if your own CA signed it, set SSL_CERT_FILE to a file with the CA's "
    "certificate, here and on the training machines"
)
_WRONG_CLOCK = "or this machine's clock is wrong"


def explain(error: BaseException, url: str, *, proxy: str | None = None) -> str:
    """Return a sentence, without a full stop, about a failed request to a server."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    over = f" (over the proxy {proxy})" if proxy else ""
    where = f"{_where(url)}{over}"
    if isinstance(reason, ssl.SSLCertVerificationError):
        return _certificate(reason, where)
    if isinstance(reason, OSError) and "Tunnel connection failed" in str(reason):
        return (
            f"the proxy refuses to connect to {_host(url)} ({_text(reason)}); check "
            "HTTPS_PROXY, or exclude the server with NO_PROXY"
        )
    for kind, sentence in _SENTENCES:
        if isinstance(reason, kind):
            host = proxy or _host(url)
            return sentence.format(where=where, host=host, text=_text(reason))
    return f"{where} does not respond, or closed the connection ({_text(reason)})"


# The first match counts; subclasses come before their base classes.
_SENTENCES: tuple[tuple[type[BaseException], str], ...] = (
    (
        ssl.SSLError,
        "the TLS handshake with {where} failed ({text}); does the address begin with "
        "http:// instead of https://?",
    ),
    (
        socket.gaierror,
        "the host name {host} cannot be resolved; is it correct, and is this machine in "
        "the right network (VPN)?",
    ),
    (ConnectionRefusedError, "connection refused by {where}; is the server running?"),
    (
        TimeoutError,
        "{where} does not respond in time; is a firewall, a VPN or a proxy (HTTPS_PROXY, "
        "NO_PROXY) in between?",
    ),
    (
        http.client.RemoteDisconnected,
        "{where} closed the connection; is it starting, or does it use https://?",
    ),
    (
        http.client.BadStatusLine,
        "the response of {where} is not HTTP; does it use https://?",
    ),
)


def redirected(url: str, status: int, target: str | None) -> str:
    """Return the error for an address that redirects; the token is not sent on."""
    if not target:
        return f"{url} answers {status}; it is not a Seamark server"
    base = target.split("/livez")[0].split("/api/v1")[0].rstrip("/")
    return (
        f"{url} redirects to {shown(base)}; if that is the server, use this "
        "address; otherwise sign in to the network with a browser first"
    )


def strange(url: str) -> str:
    """Return the error for a response that does not come from a Seamark server."""
    return (
        f"the server at {url} is not Seamark; is the address correct, or does the "
        "network require a sign-in with a browser first?"
    )


def _certificate(error: ssl.SSLCertVerificationError, where: str) -> str:
    code = error.verify_code
    if code == _EXPIRED:
        return (
            f"the certificate of {where} has expired; the server's operator must "
            f"renew it, {_WRONG_CLOCK}"
        )
    if code == _NOT_YET:
        return f"the certificate of {where} is not valid yet, {_WRONG_CLOCK}"
    if code in _WRONG_HOST:
        return (
            f"the certificate of {where} is for another host; use the host name in "
            "the certificate"
        )
    if code in _UNKNOWN_ISSUER:
        return f"the certificate of {where} is not signed by a trusted CA; {_TRUST}"
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
