"""Checks that the server can be reached and accepts this user's data."""

from __future__ import annotations

import os
import ssl
import stat
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

from seamark.commands.checks.results import Finding, fine, note, problem
from seamark.commands.login import (
    KEYS_PAGE,
    MAY_WRITE,
    SECONDS,
    describe,
    fetch_caller,
    normalized,
)
from seamark.errors import CannotRead, InvalidSetting
from seamark.reading.client import Json, find_tracker, proxy_for
from seamark.redaction import is_secret_name, redacted
from seamark.servers import (
    Environment,
    Server,
    agent_file,
    find_server,
    find_url,
    named_token,
    origin,
    read_agent_file,
    token_variable,
)
from seamark.settings import Mode, read_settings
from seamark.version import VERSION

_CLOCKS_MAY_DIFFER_BY = 10.0  # seconds; the response has whole seconds
_WRITING_ROLES = ("owner", "admin", "member")


def look_at_server(environment: Environment) -> Iterator[Finding]:
    """Check the settings and the server that they name."""
    yield from _settings(environment)
    yield from _token_file(environment)
    yield from _file(environment)
    url = find_url(environment)
    if url is None:
        yield problem(
            "server",
            "no server is configured",
            "start one with `seamark up`, or sign in with `seamark login`",
        )
        return
    try:
        url = normalized(url)
    except InvalidSetting as error:
        message = f"{redacted(url)} is not a valid address: {error}"
        yield problem("server", message, "correct it")
        return
    yield _where_from(environment, url)
    proxy = proxy_for(url)
    if proxy:
        yield fine("proxy", f"requests use the proxy {proxy}")
    yield from _reached(environment, url)


def _settings(environment: Environment) -> Iterator[Finding]:
    try:
        settings = read_settings(
            None,
            project=None,
            stage=None,
            rank=None,
            mode=None,
            monitor=None,
            strict=True,
            environment=environment,
        )
    except InvalidSetting as error:
        yield problem(
            "settings", str(error), "`agent.init` does not use it: change or unset it"
        )
        return
    names = sorted(name for name in environment if name.startswith("SEAMARK_"))
    shown = ", ".join(
        name if is_secret_name(name) else f"{name}={redacted(environment[name])}"
        for name in names
    )
    yield fine("settings", f"from the environment: {shown or 'nothing'}")
    if settings.mode is not Mode.ONLINE:
        yield problem(
            "mode",
            f"SEAMARK_MODE is {settings.mode.value}: nothing is sent",
            "unset it; `seamark sync` delivers the offline queue",
        )


def _token_file(environment: Environment) -> Iterator[Finding]:
    file = environment.get("SEAMARK_TOKEN_FILE")
    if file and named_token(environment) is None:
        yield problem(
            "token_file",
            f"SEAMARK_TOKEN_FILE names {file}, which contains no readable API key",
            "write the API key to it, readable by this user, or unset the variable",
        )


def _file(environment: Environment) -> Iterator[Finding]:
    path = agent_file(environment)
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        yield fine("file", f"{path} does not exist")
        return
    except OSError as error:
        yield problem(
            "file", f"{path} cannot be read ({error.strerror})", "make it readable"
        )
        return
    if read_agent_file(environment) == (None, None):
        yield problem(
            "file", f"{path} has no server address and API key", "run `seamark login`"
        )
    elif mode & 0o077:
        yield note(
            "file",
            f"other users can read the API key in {path}",
            f"run `chmod 600 {path}`",
        )
    else:
        yield fine("file", f"{path} has a server address and an API key")


def _where_from(environment: Environment, url: str) -> Finding:
    is_set = bool(environment.get("SEAMARK_URL"))
    source = "SEAMARK_URL" if is_set else str(agent_file(environment))
    stored, _ = read_agent_file(environment)
    if is_set and stored and origin(stored) != origin(url):
        return note(
            "server",
            f"the server is {url}, from SEAMARK_URL; the file names {stored}",
            "unset SEAMARK_URL to use the file's",
        )
    return fine("server", f"the server is {url}, from {source}")


def _reached(environment: Environment, url: str) -> Iterator[Finding]:
    try:
        sign = find_tracker(url, seconds=SECONDS)
    except CannotRead as error:
        yield problem(
            "reachable", str(error), "no data can be delivered until this is fixed"
        )
        return
    yield fine("reachable", f"the server responds{_trust(url)}")
    yield from _clock(sign.date)
    server = find_server(environment)
    if server is None:
        yield problem(
            "token",
            f"no API key for {url}",
            f"create one on {url}{KEYS_PAGE} and run `seamark login`",
        )
        return
    yield from _token(environment, Server(url, server.token))


def _trust(url: str) -> str:
    if not url.startswith("https://"):
        return ""
    # The environment variable with which OpenSSL replaces the system's CA certificates.
    chosen = os.environ.get(ssl.get_default_verify_paths().openssl_cafile_env)
    return f", with a certificate trusted by {chosen or 'this machine'}"


def _clock(date: str | None) -> Iterator[Finding]:
    try:
        there = parsedate_to_datetime(date or "").timestamp()
    except (TypeError, ValueError):
        yield note("clock", "the server does not send its time", "")
        return
    behind = there - time.time()
    if abs(behind) <= _CLOCKS_MAY_DIFFER_BY:
        yield fine("clock", "the clocks of the server and this machine agree")
        return
    word = "behind" if behind > 0 else "ahead of"
    yield note(
        "clock",
        f"this machine's clock is {abs(behind):,.0f} s {word} the server's",
        "timestamps will be wrong: set the clock (NTP)",
    )


def _token(environment: Environment, server: Server) -> Iterator[Finding]:
    is_named = named_token(environment) is not None
    source = token_variable(environment) if is_named else "the file"
    try:
        caller = fetch_caller(server)
    except CannotRead as error:
        advice = f"create one on {server.url}{KEYS_PAGE} and run `seamark login`"
        yield problem(
            "token", f"the API key from {source} is rejected: {error}", advice
        )
        return
    if not _may_write(caller):
        yield problem(
            "token",
            f"the API key from {source} cannot write: {describe(caller)}",
            "create one with scope log or manage, as a member of the workspace, and run `seamark login`",
        )
    else:
        yield fine("token", f"the API key from {source} belongs to {describe(caller)}")
    yield _versions(caller)


def _may_write(caller: Json) -> bool:
    roles = {space["role"] for space in caller["workspaces"]}
    return caller["scope"] in MAY_WRITE and not roles.isdisjoint(_WRITING_ROLES)


def _versions(caller: Json) -> Finding:
    there = caller.get("version") or "unknown"
    return fine("version", f"agent {VERSION}, server {there}")
