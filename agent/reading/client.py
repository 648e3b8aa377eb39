"""HTTP requests to the server's API for commands and readers, not for training loops."""

from __future__ import annotations

import csv
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from seamark.errors import CannotRead
from seamark.servers import Server
from seamark.upload.connection_errors import explain, redirected, strange
from seamark.upload.proxies import find_proxy, proxy_problem
from seamark.upload.responses import retry_after
from seamark.version import VERSION

# Timeout of a request, and the total time during which a busy server is retried.
_SECONDS = 60.0
# Pause before a retry if the server sends no `Retry-After`.
_PAUSE_SECONDS = 2.0
_LARGEST_REFUSAL_BYTES = 65_536
_LARGEST_WORD_BYTES = 1024 * 1024
_REDIRECTS = range(300, 400)
# Error codes of the server that a retry may resolve.
BUSY = ("busy", "unavailable")

# Failures of a request if there is no server at the address, or another program, or if
# the response is cut off; a truncated CSV is marked in its last row.
_FAILURES = (OSError, HTTPException, ValueError, KeyError, StopIteration, csv.Error)
# Failures of parsing a response that does not come from a Seamark server.
_STRANGE = (ValueError, RecursionError, LookupError, TypeError, AttributeError)

# Any: JSON.
Json = dict[str, Any]
Taken = TypeVar("Taken")


@dataclass(frozen=True)
class Sign:
    """Proof that a Seamark server is at an address, with its clock's time."""

    date: str | None


def ask(
    server: Server,
    place: str,
    take: Callable[[Json], Taken],
    query: Mapping[str, object] = MappingProxyType({}),
    *,
    seconds: float = _SECONDS,
) -> Taken:
    """Return `take` applied to the JSON response, or raise CannotRead.

    `take` may assume a valid response: its lookup and type errors are reported as a
    response that does not come from a Seamark server.
    """
    with (
        opened(server, place, query, seconds=seconds) as answer,
        translated_errors(server.url),
    ):
        body = answer.read()
    try:
        return take(json.loads(body))
    except _STRANGE as error:
        raise _no_answer(strange(server.url)) from error


# Any: what urllib opens.
def opened(
    server: Server,
    place: str,
    query: Mapping[str, object],
    *,
    seconds: float = _SECONDS,
) -> Any:
    """Return an open response; read it inside `translated_errors`."""
    try:
        parameters = urlencode(query, doseq=True)
    except UnicodeEncodeError:
        raise _no_answer("the request contains text that cannot be encoded") from None
    address = f"{server.url}/api/v1{place}?{parameters}"
    secret = {"Authorization": f"Bearer {server.token}"}
    end = time.monotonic() + seconds
    while True:
        try:
            with translated_errors(server.url):
                return _open(address, secret, seconds)
        except CannotRead as error:
            pause = error.retry_after or _PAUSE_SECONDS
            if error.code not in BUSY or time.monotonic() + pause > end:
                raise
        time.sleep(pause)


# Any: JSON of any shape.
def rows_of(listed: Any, *names: str) -> list[Json]:
    """Return the rows of a response; KeyError if a row lacks one of the names."""
    return [{**row, **{name: row[name] for name in names}} for row in listed]


def find_tracker(url: str, *, seconds: float) -> Sign:
    """Check that a Seamark server is at an address before any token is sent there."""
    with translated_errors(url), _open(f"{url}/livez", {}, seconds) as answer:
        body = answer.read(_LARGEST_WORD_BYTES)
        date = answer.headers.get("Date")
    try:
        status = json.loads(body)["status"]
    except _STRANGE:
        status = None
    if status != "alive":
        raise _no_answer(strange(url))
    return Sign(date)


@contextmanager
def translated_errors(url: str) -> Iterator[None]:
    """Turn every failure of a request into CannotRead with a readable message."""
    proxy = find_proxy(urlsplit(url))
    if proxy is not None and (problem := proxy_problem(urlsplit(url), proxy)):
        raise _no_answer(problem)
    try:
        yield
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(url, error) from None
    except _FAILURES as error:
        raise _no_answer(explain(error, url, proxy=proxy_for(url))) from error


def proxy_for(url: str) -> str | None:
    """Return the proxy used for requests to a server, without its password."""
    found = find_proxy(urlsplit(url))
    if found is None:
        return None
    place = found.netloc.rpartition("@")[2]
    return place if found.scheme == "http" else f"{found.scheme}://{place}"


# Any: what urllib opens.
def _open(address: str, headers: Mapping[str, str], seconds: float) -> Any:
    request = urllib.request.Request(
        address, headers={"User-Agent": f"seamark-agent/{VERSION}", **headers}
    )
    # Built for each request: it reads proxies and CA certificates from the environment.
    opener = urllib.request.build_opener(_NoRedirects)
    return opener.open(request, timeout=seconds)


def _refusal(url: str, error: urllib.error.HTTPError) -> CannotRead:
    if error.code in _REDIRECTS:
        target = error.headers.get("Location")
        return _no_answer(redirected(url, error.code, target))
    pause = retry_after(error.headers.get("Retry-After"), time.time())
    try:
        body = json.loads(error.read(_LARGEST_REFUSAL_BYTES))["error"]
        return CannotRead(str(body["code"]), str(body["message"]), retry_after=pause)
    except (OSError, HTTPException, *_STRANGE):
        return _no_answer(f"{url} answers {error.code}; {strange(url)}")


def _no_answer(reason: str) -> CannotRead:
    # A reason that is a question already has its punctuation.
    end = "" if reason.endswith("?") else "."
    return CannotRead("no_answer", f"{reason[:1].upper()}{reason[1:]}{end}")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    # Any: as urllib declares it.
    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect: the token is only for the configured server."""
