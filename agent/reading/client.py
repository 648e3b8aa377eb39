"""Asks a server over its API and says what becomes of it; nothing for training loops."""

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

# For so long at most an answer is waited for, and a server that is busy asked again.
_SECONDS = 60.0
# Between two tries, where the server does not say.
_PAUSE_SECONDS = 2.0
_LARGEST_REFUSAL_BYTES = 65_536
_LARGEST_WORD_BYTES = 1024 * 1024
_REDIRECTS = range(300, 400)
# What a server refuses that would do it a little later.
BUSY = ("busy", "unavailable")

# What asking fails with where there is no server, or something else in its place, or
# where an answer breaks off, which then says so in its last row.
_FAILURES = (OSError, HTTPException, ValueError, KeyError, StopIteration, csv.Error)
# What taking something of an answer fails with that is none of a tracker's.
_STRANGE = (ValueError, RecursionError, LookupError, TypeError, AttributeError)

# Any: JSON.
Json = dict[str, Any]
Taken = TypeVar("Taken")


@dataclass(frozen=True)
class Sign:
    """That a tracker lives at an address, and what time it is there."""

    date: str | None


def ask(
    server: Server,
    place: str,
    take: Callable[[Json], Taken],
    query: Mapping[str, object] = MappingProxyType({}),
    *,
    seconds: float = _SECONDS,
) -> Taken:
    """Return what is taken of the answer to a question, or raise CannotRead.

    `take` may rely on what a tracker answers: where something else does, what it raises
    is told as that.
    """
    with opened(server, place, query, seconds=seconds) as answer, told(server.url):
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
    """Return an answer that is still to be read; reading it belongs into `told`."""
    try:
        asked = urlencode(query, doseq=True)
    except UnicodeEncodeError:
        raise _no_answer("what is asked for is not text that can be sent") from None
    address = f"{server.url}/api/v1{place}?{asked}"
    secret = {"Authorization": f"Bearer {server.token}"}
    end = time.monotonic() + seconds
    while True:
        try:
            with told(server.url):
                return _open(address, secret, seconds)
        except CannotRead as error:
            pause = error.retry_after or _PAUSE_SECONDS
            if error.code not in BUSY or time.monotonic() + pause > end:
                raise
        time.sleep(pause)


# Any: JSON, which may be anything.
def rows_of(listed: Any, *names: str) -> list[Json]:
    """Return the rows of an answer, of which each has what is called so."""
    return [{**row, **{name: row[name] for name in names}} for row in listed]


def find_tracker(url: str, *, seconds: float) -> Sign:
    """Make sure that a tracker is at an address, before any token is sent there."""
    with told(url), _open(f"{url}/livez", {}, seconds) as answer:
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
def told(url: str) -> Iterator[None]:
    """Say what a server refused, and whatever else becomes of a question to it."""
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
    """Return the proxy that requests to a server go over, without its password."""
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
    # Made anew: it reads the proxies and authorities that the environment names.
    opener = urllib.request.build_opener(_NoRedirects)
    return opener.open(request, timeout=seconds)


def _refusal(url: str, error: urllib.error.HTTPError) -> CannotRead:
    if error.code in _REDIRECTS:
        target = error.headers.get("Location")
        return _no_answer(redirected(url, error.code, target))
    pause = retry_after(error.headers.get("Retry-After"), time.time())
    try:
        said = json.loads(error.read(_LARGEST_REFUSAL_BYTES))["error"]
        return CannotRead(str(said["code"]), str(said["message"]), retry_after=pause)
    except (OSError, HTTPException, *_STRANGE):
        return _no_answer(f"{url} answers {error.code}; {strange(url)}")


def _no_answer(reason: str) -> CannotRead:
    # Questions end with their mark.
    end = "" if reason.endswith("?") else "."
    return CannotRead("no_answer", f"{reason[:1].upper()}{reason[1:]}{end}")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    # Any: as urllib declares it.
    def redirect_request(self, *_: Any) -> None:
        """Follow none: the token is for the server of the settings alone."""
