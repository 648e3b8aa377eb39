"""Store a server's URL and an API key, after checking both.

All processes of this user on this machine use them from then on; running processes
whose API key was rejected continue with the new one. Create the API key on the server's
API keys page. It is typed without echo, or read from standard input.
"""

from __future__ import annotations

import argparse
import getpass
import os
import re
import sys
from urllib.parse import urlsplit

from seamark.commands.output import MISUSED, Refusal, clean, print_json_rows, say, tell
from seamark.errors import CannotRead, InvalidSetting
from seamark.reading.client import Json, ask, find_tracker
from seamark.servers import (
    Server,
    agent_file,
    check_url,
    find_url,
    named_token,
    origin,
    store_server,
    token_variable,
)

HELP = "sign in to a server with an API key"
EXAMPLES = (
    "seamark login",
    "seamark login --url https://seamark.example.org",
    "pass show seamark | seamark login --url https://seamark.example.org --token-stdin",
)

SECONDS = 10.0
KEYS_PAGE = "/account/keys"
MAY_WRITE = ("log", "manage")
MAY_READ = ("read", "manage")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_TOKEN = re.compile(r"[!-~]{1,500}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", help="the server's URL")
    given = parser.add_mutually_exclusive_group()
    given.add_argument(
        "--token-stdin",
        action="store_true",
        help="read the API key from standard input instead of asking for it",
    )
    given.add_argument(
        "--token",
        metavar="SECRET",
        help="the API key; not recommended, because other users can see it",
    )


def perform(chosen: argparse.Namespace) -> int:
    server = _prompted_server(chosen)
    try:
        find_tracker(server.url, seconds=SECONDS)
        caller = fetch_caller(server)
    except CannotRead as error:
        raise _advised(error, server) from error
    path = agent_file(os.environ)
    store_server(path, server)
    if chosen.json:
        print_json_rows({"url": server.url, "file": str(path), **caller})
    else:
        say(f"Signed in to {server.url} as {describe(caller)}")
        say(f"Address and API key are stored in {path}, readable only by you.")
    _warn(server, caller)
    return 0


def fetch_caller(server: Server) -> Json:
    """Return an API key's user, scope and workspaces; raises CannotRead."""
    return ask(server, "/me", _caller, seconds=SECONDS)


def _caller(response: Json) -> Json:
    scope, spaces, version = (
        response["scope"],
        response["workspaces"],
        response.get("version"),
    )
    if not isinstance(scope, str) or not isinstance(spaces, list):
        raise TypeError
    return {
        "version": version if isinstance(version, str) else None,
        "user": str(response.get("user")),
        "scope": scope,
        "workspaces": [
            {name: str(space.get(name)) for name in ("slug", "name", "role")}
            for space in spaces
            if isinstance(space, dict)
        ],
    }


def describe(caller: Json) -> str:
    """Describe a caller in one sentence."""
    spaces = ", ".join(f"{s['name']} ({s['role']})" for s in caller["workspaces"])
    able = [
        verb
        for verb, scopes in (("write", MAY_WRITE), ("read", MAY_READ))
        if caller["scope"] in scopes
    ]
    may = " and ".join(able) or "do nothing"
    return clean(
        f"{caller['user'] or 'no user'}, workspace {spaces or 'none'}; the API key can {may}."
    )


def normalized(url: str) -> str:
    """Return a normalized address; without a scheme, https except for this machine."""
    url = url.strip()
    if "://" not in url:
        url = f"{_scheme_for(url)}://{url}"
    check_url(url)
    parts = urlsplit(url)
    if parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise InvalidSetting("the address", "must look like https://host:port")
    return url.removesuffix("/").removesuffix("/api/v1").rstrip("/")


def _scheme_for(host: str) -> str:
    try:
        is_near = urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        # An invalid address is reported when it is checked as a whole.
        is_near = False
    return "http" if is_near else "https"


def _prompted_server(chosen: argparse.Namespace) -> Server:
    is_prompted = sys.stdin.isatty() and not chosen.token_stdin
    known = find_url(os.environ)
    url = chosen.url
    if not url and is_prompted:
        sys.stderr.write(f"Address of the server{f' [{known}]' if known else ''}: ")
        sys.stderr.flush()
        url = sys.stdin.readline().strip()
    url = url or known
    if not url:
        raise Refusal(
            "invalid_usage",
            "No server address: pass --url https://… (`seamark up` starts a server here).",
            MISUSED,
        )
    url = normalized(url)
    return Server(url, _token(chosen, url, is_prompted=is_prompted))


def _token(chosen: argparse.Namespace, url: str, *, is_prompted: bool) -> str:
    if chosen.token is not None:
        tell(
            "an API key on the command line is visible to other users of this machine and "
            "stored in the shell's history; --token-stdin reads it from a pipe"
        )
        token = chosen.token
    elif chosen.token_stdin:
        token = sys.stdin.readline(10_000)
    elif is_prompted:
        token = _typed(f"API key, from {url}{KEYS_PAGE} (not shown): ")
    else:
        raise Refusal(
            "invalid_usage",
            "No terminal to prompt for the API key; pipe it in with --token-stdin.",
            MISUSED,
        )
    token = str(token).strip()
    if not _TOKEN.fullmatch(token):
        raise InvalidSetting("the API key", "must be one word, such as smk_…")
    return str(token)


def _typed(question: str) -> str:
    try:
        return getpass.getpass(question)
    except EOFError:
        # The cursor is still in the line of the prompt.
        sys.stderr.write("\n")
        message = "No API key entered. Nothing was stored."
        raise Refusal("no_token", message) from None


def _advised(error: CannotRead, server: Server) -> Exception:
    if error.code == "not_authenticated":
        return Refusal(
            error.code,
            f"{server.url} rejected this API key: it was revoked, has expired, or "
            f"is for another server. Create one on {server.url}{KEYS_PAGE}. Nothing was "
            "stored.",
        )
    return Refusal(error.code, f"{error} Nothing was stored.")


def _warn(server: Server, caller: Json) -> None:
    if caller["scope"] not in MAY_WRITE:
        tell("this API key is read-only: scripts cannot log with it")
    elif caller["scope"] not in MAY_READ:
        tell(
            "this API key is write-only: `seamark ls` and `seamark export` need read access"
        )
    parts = urlsplit(server.url)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        tell("http:// exposes the API key to the network: use https://")
    known = find_url(os.environ)
    is_other_url = known is not None and origin(known) != origin(server.url)
    is_other_token = named_token(os.environ) not in (None, server.token)
    for name, is_other in (
        ("SEAMARK_URL", is_other_url),
        (token_variable(os.environ), is_other_token),
    ):
        if is_other:
            tell(f"{name} is set to another value and takes precedence: unset it")
